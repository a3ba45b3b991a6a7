// ResultPool: keeps the results of finished chunks, so that their memory can be reused.
//
//   std::unique_ptr<ChunkResult> make_result() override { return pool_.take(); }
//   void recycle(std::unique_ptr<ChunkResult> result) override {
//   pool_.give_back(std::move(result)); }
#pragma once

#include "scan/scan_files.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace traceloom {

// `Chunk` is a ChunkResult with a function reset(), which the pool calls before it reuses one.
// Thread-safe.
template <class Chunk>
class ResultPool {
 public:
  std::unique_ptr<ChunkResult> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Chunk>();
    std::unique_ptr<ChunkResult> chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }
  void give_back(std::unique_ptr<ChunkResult> chunk) {
    static_cast<Chunk&>(*chunk).reset();
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(chunk));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<ChunkResult>> free_;
};

}  // namespace traceloom
