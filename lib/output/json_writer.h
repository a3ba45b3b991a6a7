// Writes strict JSON, and the lists that all reports have in the same form.
#pragma once

#include "base/problems.h"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// JsonWriter: writes strict JSON text; it places commas and brackets itself.
//
//   std::string text;
//   JsonWriter json(text);
//   json.begin_object(); json.member("rank", 3); json.end_object();   // {"rank":3}
//
// Calls that cannot give JSON (a value without its key, an end that does not match) are bugs of the
// caller; assertions catch them.

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
  // Writes a member of an object: a key, and a value of any type that value() takes.
  void member(std::string_view name, const auto& content) {
    key(name);
    value(content);
  }

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

// write_list: writes a range as a member of an object, whose value is an array.
//
//   json.begin_object();
//   write_list(json, "ranks", std::vector{0, 1});
//   json.end_object();                             // {"ranks":[0,1]}

// Elements are of any type that JsonWriter::value() takes. An empty range gives an empty array.
template <typename List>
void write_list(JsonWriter& json, std::string_view key, const List& list) {
  json.key(key);
  json.begin_array();
  for (const auto& element : list) json.value(element);
  json.end_array();
}

// write_problems: writes the problems of an input as JSON objects, in the same form for all reports
// and merged traces.
//
//   json.key("problems");
//   json.begin_array();
//   for (const File& file : files) write_problems(json, file.path, file.problems);
//   json.end_array();

// Writes one {"file", "kind", "count", "first_offset"} for each kind, with "detail" if the problem
// has an explanation, into the array that is open.
void write_problems(JsonWriter& json, std::string_view file, const ProblemCounts& problems);

// write_files, write_file_problems: write the inputs of a report as JSON objects, in the same form
// for all reports.
//
//   write_files(json, run.files);
//   write_file_problems(json, run.files);

// Writes {"path", "rank", "ranks", "events", "text_bytes", "error"}, with null for missing values.
void write_file(JsonWriter& json, const FileFacts& file);

// Writes the key "files" and an array of these objects. `File` is a FileFacts.
template <typename File>
void write_files(JsonWriter& json, const std::vector<File>& files) {
  json.key("files");
  json.begin_array();
  for (const File& file : files) write_file(json, file);
  json.end_array();
}

// Writes the key "problems" and an array of the problems of all files.
template <typename File>
void write_file_problems(JsonWriter& json, const std::vector<File>& files) {
  json.key("problems");
  json.begin_array();
  for (const File& file : files) write_problems(json, file.path, file.problems);
  json.end_array();
}

}  // namespace traceloom
