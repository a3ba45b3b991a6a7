// JsonParts: writes an object or a list of parts that are JSON text already.
//
//   JsonParts object(out, '{');
//   object.add("bytes", "4096");
//   append_microseconds(object.next("ts"), ns);
//   object.close();                               // {"bytes":4096,"ts":1.500}
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

class JsonParts {
 public:
  // Appends to `out`. `bracket` is '{' or '['.
  JsonParts(std::string& out, char bracket) : out_(out), bracket_(bracket) { out_ += bracket; }

  // Begins the next element of a list; returns the text to which it has to be appended.
  std::string& next() {
    if (!is_empty_) out_ += ',';
    is_empty_ = false;
    return out_;
  }
  // Does the same for the value of the next member. The key is written as it is.
  std::string& next(std::string_view key) { return next().append("\"").append(key).append("\":"); }
  void add(std::string_view key, std::string_view value) { next(key) += value; }
  // Writes the bracket at the end.
  void close() { out_ += bracket_ == '{' ? '}' : ']'; }

 private:
  std::string& out_;
  char bracket_;
  bool is_empty_ = true;
};

}  // namespace traceloom
