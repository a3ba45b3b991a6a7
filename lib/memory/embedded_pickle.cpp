#include "base/problems.h"
#include "memory/memory_reports.h"

#include <string>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kPageBytes = std::size_t{64} << 10;
constexpr std::string_view kKey = "\"base64\"";

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

class Base64Source : public UnpackedSource {
 public:
  Base64Source(std::unique_ptr<ByteSource> page, const std::string& name)
      : UnpackedSource(std::move(page), {}) {
    std::size_t seen = 0;  // bytes of the key so far; any quote may be its first one
    for (char c = 0; next(c);) {
      if (seen == kKey.size() && c == '"') return;
      if (seen < kKey.size()) seen = c == kKey[seen] ? seen + 1 : c == '"' ? 1 : 0;
    }
    throw Error(name, "is a page without a pickle: memory_viz keeps it as \"base64\"");
  }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    char c = 0;
    while (filled < buffer.size() && !has_ended_) {
      has_ended_ = !next(c) || c == '"' || c == '=';
      const int digit = digit_of(c);
      if (has_ended_ || digit < 0) continue;
      bits_ = bits_ << 6 | static_cast<unsigned>(digit);
      held_ += 6;
      if (held_ < 8) continue;
      held_ -= 8;
      buffer[filled++] = static_cast<char>(bits_ >> held_);
    }
    return filled;
  }

 private:
  bool next(char& c) {
    if (at_ == end_) {
      at_ = 0;
      end_ = packed().read(buffer_);
      if (end_ == 0) return false;
    }
    c = buffer_[at_++];
    return true;
  }

  std::string buffer_ = std::string(kPageBytes, '\0');
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  unsigned bits_ = 0;
  unsigned held_ = 0;
  bool has_ended_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> embedded_pickle(std::unique_ptr<ByteSource> page,
                                            const std::string& name) {
  return std::make_unique<Base64Source>(std::move(page), name);
}

}  // namespace traceloom
