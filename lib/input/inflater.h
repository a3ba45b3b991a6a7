// Inflater: raw deflate data to text, by whichever library is there; gzip's frame is GzipSource's
// business.
//
//   std::unique_ptr<Inflater> inflater = make_inflater();
//   inflater->start();
//   Inflater::Step step = inflater->inflate(compressed, text);
//
// Why the frame is not left to the libraries: they differ in what they say about a bad checksum and
// about what follows the data, and ISA-L drops the end of the text with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace traceloom {

// How many bytes an Inflater may give back of what it took in earlier calls.
inline constexpr std::size_t kInflaterLookback = 8;

// ISA-L decodes up to three symbols at once and drops all of them when the input ends inside the
// last.
inline constexpr std::size_t kMaxBytesLostAtCut = 2;

// Both libraries count in 32 bits; of a longer span this much is taken at once.
inline constexpr std::size_t kMaxSpanBytes = std::size_t{1} << 30;

// Not thread-safe.
class Inflater {
 public:
  enum class Status : std::uint8_t { going_on, finished, damaged };

  struct Step {
    // Of the input. May be negative, down to -kInflaterLookback, when `finished`: bytes taken in
    // earlier calls turned out to lie behind the end of the deflate data.
    std::ptrdiff_t consumed = 0;
    std::size_t produced = 0;  // of the output
    Status status = Status::going_on;
  };

  virtual ~Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Gets ready for the first byte of a deflate stream.
  virtual void start() = 0;
  // Goes on until the input is used up, the output is full or the stream ends. With an empty input
  // it hands out what is still held back; nothing produced then means that nothing is left. All
  // text in front of the damage has been produced when the status is `damaged`. At a cut, up to
  // kMaxBytesLostAtCut that could be decoded may be missing.
  virtual Step inflate(std::span<const char> input, std::span<char> output) = 0;
  // Of all text since start(); asked for when `finished`.
  virtual std::uint32_t crc32() const = 0;

 protected:
  Inflater() = default;
};

// The fastest there is.
std::unique_ptr<Inflater> make_inflater();

// By name, for tests. The first is null in a build without ISA-L.
std::unique_ptr<Inflater> make_isal_inflater();
std::unique_ptr<Inflater> make_zlib_inflater();

}  // namespace traceloom
