// Sources that need no file: MemorySource gives a text, FailingSource fails when the text is used
// up.
//
//   FailingSource source("[{", Error("rank3.json", "Input/output error"));
#pragma once

#include "base/problems.h"
#include "input/byte_source.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace traceloom {

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string text) : text_(std::move(text)) {}

  std::size_t read(std::span<char> buffer) override {
    const std::size_t size = text_.copy(buffer.data(), buffer.size(), position_);
    position_ += size;
    return size;
  }
  const ProblemCounts& problems() const override { return problems_; }
  std::uint64_t stored_bytes_read() const override { return position_; }
  std::optional<std::uint64_t> stored_size() const override { return text_.size(); }

 private:
  std::string text_;
  std::size_t position_ = 0;
  ProblemCounts problems_;
};

class FailingSource : public MemorySource {
 public:
  FailingSource(std::string text, Error error)
      : MemorySource(std::move(text)), error_(std::move(error)) {}

  std::size_t read(std::span<char> buffer) override {
    const std::size_t size = MemorySource::read(buffer);
    if (size < buffer.size()) throw error_;
    return size;
  }

 private:
  Error error_;
};

// Reads the rest of `source` in pieces of `piece_bytes`.
inline std::string read_all(ByteSource& source, std::size_t piece_bytes = 64 << 10) {
  std::string text;
  std::string piece(piece_bytes, '\0');
  while (const std::size_t size = source.read(piece)) text.append(piece, 0, size);
  return text;
}

}  // namespace traceloom
