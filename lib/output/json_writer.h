// JsonWriter: writes strict JSON text; it places commas and brackets itself.
//
//   std::string text;
//   JsonWriter json(text);
//   json.begin_object(); json.key("rank"); json.value(3); json.end_object();   // {"rank":3}
//
// Calls that cannot give JSON (a value without its key, an end that does not match) are bugs of the
// caller; assertions catch them.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

class JsonWriter {
 public:
  // Appends to `out`. `indent` 0 writes one line; otherwise each level of objects and arrays is
  // indented by that many spaces.
  explicit JsonWriter(std::string& out, int indent = 0);

  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);

  void value(std::string_view text);  // bytes that are not UTF-8 become U+FFFD
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth);
  void value(std::integral auto number) requires(!std::same_as<decltype(number), bool>) {
    raw(std::to_string(number));
  }
  // Writes the shortest text that reads back as the same double; NaN and infinities become null.
  void value(double number);
  void null();
  // Writes null for nullopt.
  template <typename T>
  void value(const std::optional<T>& maybe) {
    if (maybe)
      value(*maybe);
    else
      null();
  }
  // Inserts `json`, which must be valid JSON, unchanged.
  void raw(std::string_view json);

 private:
  struct Level {
    bool is_object;
    bool empty = true;
  };
  void before_value();
  void next_element();
  void newline();
  void end(char bracket);

  std::string& out_;
  int indent_;
  bool after_key_ = false;
  std::vector<Level> levels_;
};

}  // namespace traceloom
