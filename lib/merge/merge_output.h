// MergeOutput: the merged trace as bytes: plain, or gzip in blocks that were compressed in
// parallel.
//
//   MergeOutput output("merged.json.gz", 1);
//   output.write(head);
//   output.write_block(compress_block(events, 1));   // gzip only
//   output.close();
#pragma once

#include "output/file_sink.h"
#include "output/gzip_sink.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace traceloom {

// As a Sink: without close() nothing is left, and the old output is untouched.
class MergeOutput {
 public:
  // gzip when the name ends in .gz.
  MergeOutput(const std::string& path, int gzip_level)
      : path_(path), sink_(open_file_sink(path)), gzip_level_(gzip_level) {
    if (!path.ends_with(".gz")) return;
    auto gzip = std::make_unique<GzipSink>(std::move(sink_), gzip_level);
    gzip_ = gzip.get();
    sink_ = std::move(gzip);
  }
  const std::string& path() const { return path_; }
  bool is_gzip() const { return gzip_ != nullptr; }
  int gzip_level() const { return gzip_level_; }
  void write(std::string_view text) { sink_->write(text); }
  void write_block(const CompressedBlock& block) { gzip_->write_block(block); }
  void close() { sink_->close(); }

 private:
  std::string path_;
  std::unique_ptr<Sink> sink_;
  GzipSink* gzip_ = nullptr;
  int gzip_level_;
};

}  // namespace traceloom
