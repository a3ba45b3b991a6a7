// GzipSource: the text of gzip data that another ByteSource delivers.
//
//   GzipSource source(std::make_unique<PlainSource>("rank3.json.gz"), make_inflater());
//
// All members are read as one text, however many there are. Damage ends the data and is counted as
// one of these problems:
// - gzip_cut: the file ends too early; all text that could be unpacked was delivered (ISA-L may
//   lose up to 2 bytes)
// - gzip_damaged: the deflate data are broken, or there is no gzip header at the start
// - gzip_checksum: a member's CRC or size is wrong; its text was delivered, and reading goes on
// - gzip_trailing_garbage: a member is followed by something other than zeros or another member
#pragma once

#include "input/byte_source.h"
#include "input/inflater.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace traceloom {

inline constexpr std::size_t kGzipBufferBytes = std::size_t{256} << 10;

class GzipSource : public ByteSource {
 public:
  // `known` holds the problems of the input that are known before its first byte is read. The
  // source asks for `buffer_bytes` of compressed data at a time.
  GzipSource(std::unique_ptr<ByteSource> compressed, std::unique_ptr<Inflater> inflater,
             const ProblemCounts& known = {}, std::size_t buffer_bytes = kGzipBufferBytes);

  std::size_t read(std::span<char> buffer) override;
  void check_unchanged() const override { compressed_->check_unchanged(); }
  const ProblemCounts& problems() const override { return problems_; }
  std::uint64_t stored_bytes_read() const override { return compressed_->stored_bytes_read(); }
  std::optional<std::uint64_t> stored_size() const override { return compressed_->stored_size(); }

 private:
  enum class State : std::uint8_t { between_members, in_member, ended };

  // Returns the unread compressed bytes. It refills the buffer if there are none; an empty result
  // means the end of the input.
  std::span<const char> at_hand();
  std::optional<std::uint8_t> next_byte();

  void start_member();
  // Reads the header of a member; returns the Problem that ends the data, if there is one.
  std::optional<Problem> read_header();
  std::optional<Problem> skip_optional_fields(unsigned flags);
  bool skip(std::size_t count);
  bool skip_text();

  std::size_t inflate(std::span<char> output);
  void finish_member();
  void end(std::optional<Problem> reason);

  std::unique_ptr<ByteSource> compressed_;
  std::unique_ptr<Inflater> inflater_;
  ProblemCounts problems_;

  // The front keeps the last bytes of the previous filling, for an Inflater that gives some back.
  std::vector<char> buffer_;
  std::size_t position_ = kInflaterLookback;
  std::size_t filled_ = kInflaterLookback;

  State state_ = State::between_members;
  bool first_member_ = true;
  std::uint64_t text_bytes_ = 0;
  std::uint64_t member_start_ = 0;  // value of text_bytes_ at the start of the member
};

}  // namespace traceloom
