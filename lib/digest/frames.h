// The layout of a digest file: numbers and texts in bytes, checksums, frames.
#pragma once

#include "base/problems.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom::digest {

// put_number, ByteReader: whole numbers and texts in a row of bytes.
//
//   std::string bytes;
//   put_number(bytes, 300);
//   ByteReader reader(bytes);
//   reader.number();   // 300
//
// A reader believes nothing: after the end, or at a number of more than 64 bits, it gives zeros and
// empty texts, and failed() says so.

// Appends 7 bits a byte, the lowest first; the highest bit of a byte says that more follow.
inline void put_number(std::string& bytes, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

// Appends the length and the text.
inline void put_text(std::string& bytes, std::string_view text) {
  put_number(bytes, text.size());
  bytes += text;
}

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t result = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      result |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return result;
    }
    failed_ = true;
    return 0;
  }

  std::string_view bytes(std::uint64_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }

  std::string_view text() { return bytes(number()); }

  std::string_view rest() const { return rest_; }
  bool failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

// TextHash: the checksum (XXH3) of a text that comes in pieces.
//
//   TextHash hash;
//   hash.add("{\"traceEvents\":");
//   hash.value();

class TextHash {
 public:
  TextHash();
  ~TextHash();
  TextHash(const TextHash&) = delete;
  TextHash& operator=(const TextHash&) = delete;

  void add(std::string_view text);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The layout of a digest file: a magic, then frames, each with its own checksum.
//
//   std::string bytes = digest_start({.name = "traces/rank3.json.gz"});
//   bytes += frame(FrameKind::block, encode_block(text));
//   bytes += frame(FrameKind::end, end_payload(end));
//
// docs/formats.md has the layout for people.

inline constexpr std::string_view kMagic = "\x89TLDG\r\n\x1a";
// Goes up whenever older digests would be read as another text: a change of the model is one.
inline constexpr std::uint8_t kVersion = 2;
inline constexpr std::size_t kStartBytes = kMagic.size() + 1;

enum class FrameKind : char { head = 'H', block = 'B', end = 'E' };

// Kind, size and checksum; the payload follows.
inline constexpr std::size_t kFrameHeaderBytes = 13;
inline constexpr std::size_t kMostFrameBytes = std::size_t{64} << 20;

struct FrameHeader {
  FrameKind kind = FrameKind::block;
  std::size_t size = 0;
  std::uint64_t checksum = 0;
};

std::string frame(FrameKind kind, std::string_view payload);
// Returns nullopt for what is no header of a frame; `bytes` are kFrameHeaderBytes.
std::optional<FrameHeader> read_frame_header(std::string_view bytes);
bool is_intact(const FrameHeader& header, std::string_view payload);

struct Head {
  std::string name;                // the trace's path as it was given; empty for stdin
  std::uint64_t stored_bytes = 0;  // of the trace's file; 0 if it is not known
};

// The magic, the version and the frame of the head.
std::string digest_start(const Head& head);
std::optional<Head> read_head(std::string_view payload);

struct End {
  std::uint64_t text_bytes = 0;
  std::uint64_t text_checksum = 0;  // XXH3 of all of the text
  ProblemCounts problems;           // what was wrong with the trace's compression
};

std::string end_payload(const End& end);
std::optional<End> read_end(std::string_view payload);

}  // namespace traceloom::digest
