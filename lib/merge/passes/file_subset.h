// FileSubset: shows a visitor only some of its files, under the numbers that it knows.
//
//   FileSubset subset(writer, {0, 3});
//   scan_files({paths[0], paths[3]}, subset, {});    // writer is shown files 0 and 3
#pragma once

#include "scan/scan_files.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace traceloom {

class FileSubset : public FileVisitor {
 public:
  // `visitor` must outlive this object.
  FileSubset(FileVisitor& visitor, std::vector<std::size_t> files)
      : visitor_(visitor), files_(std::move(files)) {}

  Args wanted_args() const override { return visitor_.wanted_args(); }
  std::unique_ptr<ChunkResult> make_result() override { return visitor_.make_result(); }
  void recycle(std::unique_ptr<ChunkResult> result) override {
    visitor_.recycle(std::move(result));
  }
  void visit(ChunkResult& result, std::size_t file, const Event& event) override {
    visitor_.visit(result, files_[file], event);
  }
  void finish_chunk(ChunkResult& result) override { visitor_.finish_chunk(result); }
  void take(ChunkResult& result, std::size_t file) override { visitor_.take(result, files_[file]); }
  void end_file(std::size_t file, const FileEnd& end) override {
    visitor_.end_file(files_[file], end);
  }
  void fail_file(std::size_t file, const Error& error) override {
    visitor_.fail_file(files_[file], error);
  }

 private:
  FileVisitor& visitor_;
  std::vector<std::size_t> files_;
};

}  // namespace traceloom
