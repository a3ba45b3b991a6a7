// Writes strict JSON, and the lists that all reports have in the same form.
#pragma once

#include "base/problems.h"

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

  // Write a key and its value, or the begin of its value.
  template <typename T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  void begin_object(std::string_view name) {
    key(name);
    begin_object();
  }
  void begin_array(std::string_view name) {
    key(name);
    begin_array();
  }
  // Leaves the key out if there is no value.
  template <typename T>
  void member_if(std::string_view name, const std::optional<T>& maybe) {
    if (maybe) member(name, *maybe);
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

// json_object: the text of an object, with the members that a function writes, or with a few.
//
//   json_object([](JsonWriter& json) { json.member("rank", 3); })    // {"rank":3}
//   json_object("rank", 3, "host", "a")                              // {"rank":3,"host":"a"}

template <std::invocable<JsonWriter&> Write>
std::string json_object(Write write) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  write(json);
  json.end_object();
  return text;
}

inline void write_members(JsonWriter& /*json*/) {}
template <typename Value, typename... More>
void write_members(JsonWriter& json, std::string_view key, const Value& value,
                   const More&... more) {
  json.member(key, value);
  write_members(json, more...);
}
template <typename Value, typename... More>
std::string json_object(std::string_view key, const Value& value, const More&... more) {
  return json_object([&](JsonWriter& json) { write_members(json, key, value, more...); });
}

// Makes null of an empty text.
inline std::optional<std::string_view> text_or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// write_list: writes a range as a member of an object, whose value is an array.
//
//   json.begin_object();
//   write_list(json, "ranks", std::vector{0, 1});
//   json.end_object();                             // {"ranks":[0,1]}

// Elements are of any type that JsonWriter::value() takes. An empty range gives an empty array.
template <typename List>
void write_list(JsonWriter& json, std::string_view key, const List& list) {
  json.begin_array(key);
  for (const auto& element : list) json.value(element);
  json.end_array();
}

// write_values: writes an array of a few values, of whichever types.
//
//   write_values(json, "rank", 3);                 // ["rank",3]

template <typename... Values>
void write_values(JsonWriter& json, const Values&... values) {
  json.begin_array();
  (json.value(values), ...);
  json.end_array();
}

// write_object, write_objects: write a member whose value is an object, or an array of them.
//
//   write_objects(json, "ranks", run.ranks, [&](const RankEvents& rank) {
//     json.member("rank", rank.rank);
//   });                                            // "ranks":[{"rank":0},{"rank":1}]

template <typename Write>
void write_object(JsonWriter& json, std::string_view key, Write write) {
  json.key(key);
  json.begin_object();
  write();
  json.end_object();
}

// Writes the array alone.
template <typename List, typename Write>
void write_objects(JsonWriter& json, const List& list, Write write) {
  json.begin_array();
  for (const auto& element : list) {
    json.begin_object();
    write(element);
    json.end_object();
  }
  json.end_array();
}

template <typename List, typename Write>
void write_objects(JsonWriter& json, std::string_view key, const List& list, Write write) {
  json.key(key);
  write_objects(json, list, std::move(write));
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
  json.begin_array("files");
  for (const File& file : files) write_file(json, file);
  json.end_array();
}

// Writes the key "problems" and an array of the problems of all files.
template <typename File>
void write_file_problems(JsonWriter& json, const std::vector<File>& files) {
  json.begin_array("problems");
  for (const File& file : files) write_problems(json, file.path, file.problems);
  json.end_array();
}

}  // namespace traceloom
