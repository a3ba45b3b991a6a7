// MergeOutput: writes the merged trace as bytes: plain, or as gzip in blocks that were compressed
// in parallel.
//
//   MergeOutput output("merged.json.gz", 1);    // or to any Sink
//   output.write(head);
//   output.write_block(compress_block(events, 1));   // gzip only
//   output.close();
#pragma once

#include "output/file_sink.h"
#include "output/gzip_sink.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace traceloom {

// Behaves as a Sink: without close() nothing is left, and the old output is untouched.
class MergeOutput {
 public:
  // Writes gzip if is_gzip_name().
  MergeOutput(const std::string& path, int gzip_level, StdoutUse stdout_use = {})
      : path_(path),
        owned_(open_file_sink(path, stdout_use)),
        sink_(owned_.get()),
        gzip_level_(gzip_level) {
    if (!is_gzip_name(path)) return;
    auto gzip = std::make_unique<GzipSink>(std::move(owned_), gzip_level);
    sink_ = gzip_ = gzip.get();
    owned_ = std::move(gzip);
  }
  // Writes plain text. `path` names the file that the text becomes a part of.
  MergeOutput(std::unique_ptr<Sink> sink, std::string path)
      : path_(std::move(path)), owned_(std::move(sink)), sink_(owned_.get()) {}
  // `gzip` must outlive this object.
  MergeOutput(GzipSink& gzip, int gzip_level, std::string path)
      : path_(std::move(path)), sink_(&gzip), gzip_(&gzip), gzip_level_(gzip_level) {}
  const std::string& path() const { return path_; }
  bool is_gzip() const { return gzip_ != nullptr; }
  int gzip_level() const { return gzip_level_; }
  void write(std::string_view text) { sink_->write(text); }
  void write_block(const CompressedBlock& block) { gzip_->write_block(block); }
  // Leaves out what others write into the file (Sink::leave_gap()); crc32 and text_size are those
  // of the text in the gap, which only gzip needs.
  FileGap leave_gap(std::uint64_t bytes) { return sink_->leave_gap(bytes); }
  void count_elsewhere(std::uint32_t crc32, std::uint64_t text_size) {
    if (gzip_ != nullptr) gzip_->count_elsewhere(crc32, text_size);
  }
  void complete() { sink_->complete(); }
  void close() { sink_->close(); }

 private:
  std::string path_;
  std::unique_ptr<Sink> owned_;
  Sink* sink_;
  GzipSink* gzip_ = nullptr;
  int gzip_level_ = kDefaultGzipLevel;
};

}  // namespace traceloom
