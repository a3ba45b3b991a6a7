#include "bench/text_output.h"

#include <charconv>
#include <stdexcept>

namespace traceloom::bench {
namespace {

constexpr std::size_t kBufferSize = 4 << 20;

}  // namespace

// zlib's "T" mode writes through.
TextOutput::TextOutput(const std::string& path, bool gzip)
    : path_(path), file_(gzopen(path.c_str(), gzip ? "wb6" : "wbT")) {
  if (file_ == nullptr) throw std::runtime_error(path + ": cannot be written");
  buffer_.reserve(kBufferSize + 65'536);
}

TextOutput::~TextOutput() {
  if (file_ != nullptr) gzclose(file_);
}

TextOutput& TextOutput::operator<<(std::string_view text) {
  buffer_ += text;
  return *this;
}

TextOutput& TextOutput::operator<<(std::int64_t number) {
  char digits[24];
  const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  buffer_.append(digits, static_cast<std::size_t>(end - digits));
  return *this;
}

TextOutput& TextOutput::us(std::int64_t ns) {
  return decimals(ns, 1'000);
}

TextOutput& TextOutput::six_decimals(std::int64_t millionths) {
  return decimals(millionths, 1'000'000);
}

TextOutput& TextOutput::decimals(std::int64_t number, std::int64_t unit) {
  *this << number / unit;
  buffer_ += '.';
  while ((unit /= 10) > 0) buffer_ += static_cast<char>('0' + number / unit % 10);
  return *this;
}

void TextOutput::flush_when_full() {
  if (buffer_.size() >= kBufferSize) flush();
}

void TextOutput::close() {
  flush();
  const int result = gzclose(file_);
  file_ = nullptr;
  if (result != Z_OK) throw std::runtime_error(path_ + ": cannot be written");
}

void TextOutput::flush() {
  if (!buffer_.empty() &&
      gzwrite(file_, buffer_.data(), static_cast<unsigned>(buffer_.size())) <= 0)
    throw std::runtime_error(path_ + ": cannot be written");
  flushed_ += buffer_.size();
  buffer_.clear();
}

}  // namespace traceloom::bench
