#include "output/json_writer.h"

#include "base/json_string.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

namespace traceloom {

JsonWriter::JsonWriter(std::string& out, int indent) : out_(out), indent_(indent) {}

void JsonWriter::begin_object() {
  before_value();
  out_ += '{';
  levels_.push_back({.is_object = true});
}

void JsonWriter::end_object() {
  assert(!levels_.empty() && levels_.back().is_object && !after_key_);
  end('}');
}

void JsonWriter::begin_array() {
  before_value();
  out_ += '[';
  levels_.push_back({.is_object = false});
}

void JsonWriter::end_array() {
  assert(!levels_.empty() && !levels_.back().is_object);
  end(']');
}

void JsonWriter::key(std::string_view name) {
  assert(!levels_.empty() && levels_.back().is_object && !after_key_);
  next_element();
  append_json_string(out_, name);
  out_ += indent_ > 0 ? ": " : ":";
  after_key_ = true;
}

void JsonWriter::value(std::string_view text) {
  before_value();
  append_json_string(out_, text);
}

void JsonWriter::value(bool truth) {
  raw(truth ? "true" : "false");
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  std::array<char, 32> text;  // the longest double is 24 characters
  const auto [end, error] = std::to_chars(text.begin(), text.end(), number);
  raw(std::string_view(text.data(), static_cast<std::size_t>(end - text.begin())));
}

void JsonWriter::null() {
  raw("null");
}

void JsonWriter::raw(std::string_view json) {
  before_value();
  out_ += json;
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
  } else if (!levels_.empty()) {
    assert(!levels_.back().is_object);  // a value in an object needs its key
    next_element();
  }
}

void JsonWriter::next_element() {
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  newline();
}

void JsonWriter::newline() {
  if (indent_ == 0) return;
  out_ += '\n';
  out_.append(levels_.size() * static_cast<std::size_t>(indent_), ' ');
}

void JsonWriter::end(char bracket) {
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) newline();
  out_ += bracket;
}

void write_problems(JsonWriter& json, std::string_view file, const ProblemCounts& problems) {
  for (const Problem problem : problems.kinds()) {
    json.begin_object();
    json.member("file", file);
    json.member("kind", describe(problem).name);
    json.member("count", problems.count(problem));
    json.member("first_offset", problems.first_offset(problem));
    if (const std::string_view detail = problems.explanation(problem); !detail.empty()) {
      json.member("detail", detail);
    }
    json.end_object();
  }
}

void write_file(JsonWriter& json, const FileFacts& file) {
  json.begin_object();
  json.member("path", file.path);
  json.member("rank", file.rank);
  write_list(json, "ranks", file.ranks);
  json.member("events", file.events);
  json.member("text_bytes", file.text_bytes);
  json.key("error");
  if (file.error.empty())
    json.null();
  else
    json.value(file.error);
  json.end_object();
}

}  // namespace traceloom
