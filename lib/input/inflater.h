// Inflater: turns raw deflate data into text, with the library that the build has. GzipSource
// handles the gzip header and trailer.
//
//   std::unique_ptr<Inflater> inflater = make_inflater();
//   inflater->start();
//   Inflater::Step step = inflater->inflate(compressed, text);
//
// The libraries do not handle the gzip frame because they differ in what they report for a bad
// checksum and for bytes after the data, and because ISA-L drops the end of the text in both cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace traceloom {

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

}  // namespace traceloom
