#include "digest/frames.h"

#include <algorithm>

#define XXH_INLINE_ALL  // xxHash needs this macro to be used without its library
#include <xxhash.h>

namespace traceloom::digest {

struct TextHash::State {
  XXH3_state_t state;
};

TextHash::TextHash() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->state);
}

TextHash::~TextHash() = default;

void TextHash::add(std::string_view text) {
  XXH3_64bits_update(&state_->state, text.data(), text.size());
}

std::uint64_t TextHash::value() const {
  return XXH3_64bits_digest(&state_->state);
}

namespace {

void put_fixed(std::string& bytes, std::uint64_t number, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<char>(number >> 8 * i));
}

std::uint64_t read_fixed(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
  return number;
}

// The kind of a frame is the seed, so that no frame passes for one of another kind.
std::uint64_t checksum_of(FrameKind kind, std::string_view payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), static_cast<std::uint64_t>(kind));
}

std::optional<Problem> problem_named(std::string_view name) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Problem::count_); ++i)
    if (describe(static_cast<Problem>(i)).name == name) return static_cast<Problem>(i);
  return std::nullopt;
}

}  // namespace

std::string frame(FrameKind kind, std::string_view payload) {
  std::string bytes(1, static_cast<char>(kind));
  put_fixed(bytes, payload.size(), 4);
  put_fixed(bytes, checksum_of(kind, payload), 8);
  return bytes += payload;
}

std::optional<FrameHeader> read_frame_header(std::string_view bytes) {
  if (bytes.size() != kFrameHeaderBytes) return std::nullopt;
  FrameHeader header{static_cast<FrameKind>(bytes[0]), read_fixed(bytes.substr(1, 4)),
                     read_fixed(bytes.substr(5))};
  const bool is_known = header.kind == FrameKind::head || header.kind == FrameKind::block ||
                        header.kind == FrameKind::end;
  if (!is_known || header.size > kMostFrameBytes) return std::nullopt;
  return header;
}

bool is_intact(const FrameHeader& header, std::string_view payload) {
  return payload.size() == header.size && checksum_of(header.kind, payload) == header.checksum;
}

std::string digest_start(const Head& head) {
  std::string payload;
  put_text(payload, head.name);
  put_number(payload, head.stored_bytes);
  std::string bytes(kMagic);
  bytes.push_back(static_cast<char>(kVersion));
  return bytes += frame(FrameKind::head, payload);
}

std::optional<Head> read_head(std::string_view payload) {
  ByteReader reader(payload);
  Head head;
  head.name = reader.text();
  head.stored_bytes = reader.number();
  if (reader.failed()) return std::nullopt;
  return head;
}

std::string end_payload(const End& end) {
  std::string bytes;
  put_number(bytes, end.text_bytes);
  put_fixed(bytes, end.text_checksum, 8);
  const std::vector<Problem> kinds = end.problems.kinds();
  put_number(bytes, kinds.size());
  for (const Problem kind : kinds) {
    put_text(bytes, describe(kind).name);
    put_number(bytes, end.problems.first_offset(kind));
    put_number(bytes, end.problems.count(kind));
  }
  return bytes;
}

std::optional<End> read_end(std::string_view payload) {
  ByteReader reader(payload);
  End end;
  end.text_bytes = reader.number();
  end.text_checksum = read_fixed(reader.bytes(8));
  for (std::uint64_t kinds = reader.number(); kinds > 0 && !reader.failed(); --kinds) {
    const std::optional<Problem> kind = problem_named(reader.text());
    const std::uint64_t offset = reader.number();
    const std::uint64_t count = reader.number();
    if (!kind) return std::nullopt;
    end.problems.add(*kind, offset, count);
  }
  if (reader.failed()) return std::nullopt;
  return end;
}

}  // namespace traceloom::digest
