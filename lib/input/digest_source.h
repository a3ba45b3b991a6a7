// DigestSource: the text of the trace of which a digest was made (digest/frames.h).
//
//   DigestSource source(std::make_unique<PlainSource>("rank3.digest"), "rank3.digest", 1);
//
// A digest is whole or of no use: anything else than what `trace-stats digest` wrote is an Error
// with the name of the digest and the byte in it. The problems of the trace's own compression are
// those that its reader would have found.
#pragma once

#include "digest/frames.h"
#include "input/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace traceloom {

bool is_digest(std::string_view head);
// False also for a file that cannot be read, and for what is no regular file.
bool is_digest_file(const std::string& path);
// The path of the trace, if the file is a digest that tells it.
std::optional<std::string> name_in_digest(const std::string& path);

class DigestSource : public ByteSource {
 public:
  // `digest` begins with the magic. Up to `threads` blocks are unpacked at once; with 1, in the
  // thread that reads.
  DigestSource(std::unique_ptr<ByteSource> digest, std::string name, unsigned threads);

  std::size_t read(std::span<char> buffer) override;
  void check_unchanged() const override { digest_->check_unchanged(); }
  const ProblemCounts& problems() const override { return problems_; }
  std::uint64_t stored_bytes_read() const override { return digest_->stored_bytes_read(); }
  std::optional<std::uint64_t> stored_size() const override { return digest_->stored_size(); }

 private:
  struct Block {
    std::uint64_t offset;
    std::future<std::optional<std::string>> text;
  };

  [[noreturn]] void refuse(std::uint64_t offset, const std::string& problem) const;
  std::string take(std::size_t size);
  // Returns the payload of the next frame, which begins at frame_offset_.
  std::string next_frame(digest::FrameHeader& header);
  void read_start();
  void fetch_blocks();
  bool next_text();
  void check_end();

  std::unique_ptr<ByteSource> digest_;
  std::string name_;
  unsigned threads_;
  std::uint64_t offset_ = 0;
  std::uint64_t frame_offset_ = 0;
  std::deque<Block> blocks_;
  std::optional<digest::End> end_;
  std::string text_;
  std::size_t position_ = 0;
  std::uint64_t text_bytes_ = 0;
  digest::TextHash hash_;
  bool is_done_ = false;
  ProblemCounts problems_;
};

}  // namespace traceloom
