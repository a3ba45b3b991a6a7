// The layout of a digest file: a magic, then frames, each with its own checksum.
//
//   std::string bytes = digest_start({.name = "traces/rank3.json.gz"});
//   bytes += frame(FrameKind::block, encode_block(text));
//   bytes += frame(FrameKind::end, end_payload(end));
//
// docs/formats.md has the layout for people.
#pragma once

#include "base/problems.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom::digest {

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
