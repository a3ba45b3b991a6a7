// Text into a file, plain or gzip, with the kinds of numbers that traces have.
//
//   TextOutput out("rank0.json", false);
//   out << "\"pid\": " << 17;
//   out.us(1'500).close();
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom::bench {

// Throws std::runtime_error when the file cannot be written.
class TextOutput {
 public:
  TextOutput(const std::string& path, bool gzip);
  ~TextOutput();
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  TextOutput& operator<<(std::string_view text);
  TextOutput& operator<<(std::int64_t number);
  TextOutput& us(std::int64_t ns);  // microseconds with three decimals
  TextOutput& six_decimals(std::int64_t millionths);

  void flush_when_full();
  std::uint64_t bytes() const { return flushed_ + buffer_.size(); }
  void close();
  // Forgets the text written so far; possible until the first flush.
  void rewind() { buffer_.clear(); }

 private:
  TextOutput& decimals(std::int64_t number, std::int64_t unit);
  void flush();

  std::string path_;
  gzFile file_;
  std::string buffer_;
  std::uint64_t flushed_ = 0;
};

}  // namespace traceloom::bench
