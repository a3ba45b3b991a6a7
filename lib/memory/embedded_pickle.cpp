#include "base/problems.h"
#include "memory/memory_reports.h"

#include <algorithm>
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
    std::string seen;
    for (char c = 0; next(c);) {
      seen += c;
      if (seen.size() > kKey.size() + 1 && c == '"' && key_at_ != std::string::npos) return;
      if (seen.ends_with(kKey)) key_at_ = seen.size();
      if (key_at_ == std::string::npos && seen.size() > kPageBytes)
        seen.erase(0, seen.size() - kKey.size());
    }
    throw Error(name, "is a page without a pickle: memory_viz keeps it as \"base64\"");
  }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    char c = 0;
    while (filled < buffer.size() && !has_ended_) {
      if (!next(c) || c == '"' || c == '=') {
        has_ended_ = true;
        break;
      }
      const int digit = digit_of(c);
      if (digit < 0) continue;
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
  std::size_t key_at_ = std::string::npos;  // the end of the key, in what was seen
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
