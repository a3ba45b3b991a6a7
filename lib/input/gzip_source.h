// Gzip inputs: the library that inflates deflate data, and the source that handles the gzip
// frame around them.
#pragma once

#include "input/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace traceloom {

// Inflater: turns raw deflate data into text, with the library that the build has. GzipSource
// handles the gzip header and trailer.
//
//   std::unique_ptr<Inflater> inflater = make_inflater();
//   inflater->start();
//   Inflater::Step step = inflater->inflate(compressed, text);
//
// The libraries do not handle the gzip frame because they differ in what they report for a bad
// checksum and for bytes after the data, and because ISA-L drops the end of the text in both cases.

// The most bytes that an Inflater may give back of the input of earlier calls.
inline constexpr std::size_t kInflaterLookback = 8;

// ISA-L decodes up to three symbols at once. If the input ends inside the last one, it drops all
// three.
inline constexpr std::size_t kMaxBytesLostAtCut = 2;

// Both libraries count in 32 bits, so a longer span is processed in pieces of this size.
inline constexpr std::size_t kMaxSpanBytes = std::size_t{1} << 30;

// Converts one deflate stream after another. Not thread-safe.
class Inflater {
 public:
  enum class Status : std::uint8_t { going_on, finished, damaged };

  struct Step {
    // Bytes consumed of the input. It may be negative, down to -kInflaterLookback, if the status is
    // `finished`: bytes that earlier calls consumed turned out to lie after the end of the deflate
    // data.
    std::ptrdiff_t consumed = 0;
    std::size_t produced = 0;  // bytes written to the output
    Status status = Status::going_on;
  };

  virtual ~Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Prepares for the first byte of a deflate stream.
  virtual void start() = 0;
  // Runs until the input is used up, the output is full or the stream ends. With an empty input it
  // writes the text that is still held back; if it then writes nothing, nothing is left. If the
  // status is `damaged`, all text before the damage has been written. At a cut, up to
  // kMaxBytesLostAtCut bytes that could be decoded may be missing.
  virtual Step inflate(std::span<const char> input, std::span<char> output) = 0;
  // The checksum of all text since start(); the caller asks for it once the status is `finished`.
  virtual std::uint32_t crc32() const = 0;

 protected:
  Inflater() = default;
};

// Makes the fastest Inflater of this build.
std::unique_ptr<Inflater> make_inflater();

// These make a certain Inflater, for tests. The first returns null in a build without ISA-L.
std::unique_ptr<Inflater> make_isal_inflater();
std::unique_ptr<Inflater> make_zlib_inflater();

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

inline constexpr std::size_t kGzipBufferBytes = std::size_t{256} << 10;

class GzipSource : public UnpackedSource {
 public:
  // `known` holds the problems of the input that are known before its first byte is read. The
  // source asks for `buffer_bytes` of compressed data at a time.
  GzipSource(std::unique_ptr<ByteSource> compressed, std::unique_ptr<Inflater> inflater,
             const ProblemCounts& known = {}, std::size_t buffer_bytes = kGzipBufferBytes);

  std::size_t read(std::span<char> buffer) override;

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

  std::unique_ptr<Inflater> inflater_;

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
