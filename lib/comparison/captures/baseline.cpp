#include "comparison/captures/baseline.h"

#include "base/json_string.h"
#include "base/problems.h"
#include "comparison/judge/judge.h"
#include "json/json_document.h"
#include "output/json_writer.h"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

constexpr std::string_view kBegin = "{\"traceloom_baseline\":";
constexpr std::int64_t kVersion = 1;

// Names occur in many rows, so that a row has only the number of its text.
class TextWriter {
 public:
  std::size_t number(const std::string& text) {
    const auto [place, is_new] = numbers_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return place->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> texts_;
};

void write_numbers(JsonWriter& json, const std::vector<std::int64_t>& numbers) {
  json.begin_array();
  for (const std::int64_t number : numbers) json.value(number);
  json.end_array();
}

std::vector<std::int64_t> numbers_of(const CaptureRow& row, TextWriter& texts) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(row.key.role),
                                    static_cast<std::int64_t>(texts.number(row.key.op)),
                                    static_cast<std::int64_t>(texts.number(row.key.name)),
                                    row.exclusive_ns,
                                    row.total_ns,
                                    row.count};
  if (!row.key.module.empty())
    numbers.push_back(static_cast<std::int64_t>(texts.number(row.key.module)));
  return numbers;
}

void write_rank(JsonWriter& json, TextWriter& texts, const CaptureRank& rank) {
  json.begin_object();
  json.key("rank");
  json.value(rank.rank);
  json.key("steps");
  json.value(rank.steps);
  json.key("rows");
  json.begin_array();
  for (const CaptureRow& row : rank.rows) write_numbers(json, numbers_of(row, texts));
  json.end_array();
  write_list(json, "sequence", rank.sequence);
  json.end_object();
}

void write_capture(JsonWriter& json, TextWriter& texts, const Capture& capture) {
  json.begin_object();
  json.key("name");
  json.value(capture.name);
  json.key("world_size");
  json.value(capture.world_size);
  write_list(json, "devices", capture.devices);
  write_list(json, "producers", capture.producers);
  json.key("has_python");
  json.value(capture.has_python);
  json.key("peak_bytes");
  json.value(capture.peak_bytes);
  write_list(json, "steps_ns", capture.steps_ns);
  json.key("shapes");
  json.begin_array();
  for (const ShapeTime& shape : capture.shapes)
    write_numbers(json, {static_cast<std::int64_t>(texts.number(shape.op)),
                         static_cast<std::int64_t>(texts.number(shape.shapes)), shape.ns});
  json.end_array();
  json.key("ranks");
  json.begin_array();
  for (const CaptureRank& rank : capture.ranks) write_rank(json, texts, rank);
  json.end_array();
  json.end_object();
}

// Reads what baseline_json() wrote.
class BaselineReader {
 public:
  BaselineReader(const std::string& path, const std::string& text) : path_(path), text_(text) {}

  Baseline read() {
    if (integer(member(text_.root(), "traceloom_baseline").text()) != kVersion)
      fail("is a baseline of another version");
    for (const JsonValue text : member(text_.root(), "texts").elements())
      texts_.push_back(text.string());
    Baseline baseline;
    for (const JsonValue version : member(text_.root(), "older").elements()) {
      OlderVersion older{member(version, "reason").string(), {}};
      for (const JsonValue one : member(version, "numbers").elements())
        older.numbers.push_back(number(one.text()));
      baseline.older.push_back(std::move(older));
    }
    baseline.reason = member(text_.root(), "reason").string();
    for (const JsonValue capture : member(text_.root(), "captures").elements())
      baseline.captures.push_back(read_capture(capture));
    if (baseline.captures.empty()) fail("has no captures");
    return baseline;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(path_, what + "; make it again with trace-stats baseline");
  }

  JsonValue member(JsonValue object, std::string_view key) const {
    const JsonValue value = object[key];
    if (!value.is_there()) fail("is no whole baseline: it has no \"" + std::string(key) + "\"");
    return value;
  }

  std::int64_t integer(std::string_view text) const {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size() || value < 0)
      fail("is no whole baseline: '" + std::string(text.substr(0, 40)) + "' is not a number");
    return value;
  }

  double number(std::string_view text) const {
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size() || !(value > 0))
      fail("is no whole baseline: '" + std::string(text.substr(0, 40)) + "' is not a length");
    return value;
  }

  std::vector<std::int64_t> integers(JsonValue list) const {
    std::vector<std::int64_t> values;
    for (const JsonValue one : list.elements()) values.push_back(integer(one.text()));
    return values;
  }

  std::vector<std::int64_t> integers(JsonValue list, std::size_t least, std::size_t most) const {
    std::vector<std::int64_t> values = integers(list);
    if (values.size() < least || values.size() > most)
      fail("is no whole baseline: a row has other columns");
    return values;
  }

  const std::string& text(std::int64_t index) const {
    const auto place = static_cast<std::size_t>(index);
    if (place >= texts_.size()) fail("is no whole baseline: a text is missing");
    return texts_[place];
  }

  std::set<std::string> names(JsonValue list) const {
    std::set<std::string> found;
    for (const JsonValue one : list.elements()) found.insert(one.string());
    return found;
  }

  CaptureRank read_rank(JsonValue object) const {
    CaptureRank rank;
    rank.rank = integer(member(object, "rank").text());
    rank.steps = static_cast<std::size_t>(integer(member(object, "steps").text()));
    for (const JsonValue list : member(object, "rows").elements()) {
      // A row without a module ends before it.
      const std::vector<std::int64_t> row = integers(list, 6, 7);
      if (row[0] >= static_cast<std::int64_t>(kRoleCount))
        fail("is no whole baseline: a role is not known");
      rank.rows.push_back({{static_cast<Role>(row[0]), text(row[1]), text(row[2]),
                            row.size() > 6 ? text(row[6]) : ""},
                           row[3],
                           row[4],
                           row[5]});
      add_to(rank.total_ns, row[3]);
    }
    for (const std::int64_t row : integers(member(object, "sequence"))) {
      if (static_cast<std::size_t>(row) >= rank.rows.size())
        fail("is no whole baseline: a row is missing");
      rank.sequence.push_back(static_cast<std::uint32_t>(row));
    }
    return rank;
  }

  Capture read_capture(JsonValue object) const {
    Capture capture;
    capture.name = member(object, "name").string();
    capture.world_size = integer(member(object, "world_size").text());
    capture.devices = names(member(object, "devices"));
    capture.producers = names(member(object, "producers"));
    capture.has_python = member(object, "has_python").text() == "true";
    // Older baselines do not have it.
    if (const std::string_view peak = object["peak_bytes"].text(); !peak.empty() && peak != "null")
      capture.peak_bytes = integer(peak);
    capture.steps_ns = integers(member(object, "steps_ns"));
    capture.value_ns = capture_value(capture.steps_ns);
    for (const JsonValue list : member(object, "shapes").elements()) {
      const std::vector<std::int64_t> shape = integers(list, 3, 3);
      capture.shapes.push_back({text(shape[0]), text(shape[1]), shape[2]});
    }
    for (const JsonValue rank : member(object, "ranks").elements())
      capture.ranks.push_back(read_rank(rank));
    return capture;
  }

  const std::string& path_;
  JsonDocument text_;
  std::vector<std::string> texts_;
};

template <typename List>
void keep_last(List& list, std::size_t count) {
  if (list.size() > count)
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() - count));
}

}  // namespace

void Baseline::append(std::vector<Capture> more) {
  for (Capture& capture : more) captures.push_back(std::move(capture));
  keep_last(captures, kMostCaptures);
}

void Baseline::accept(const std::string& why, std::vector<Capture> first) {
  OlderVersion version{reason, values_of(captures)};
  if (!version.numbers.empty()) older.push_back(std::move(version));
  keep_last(older, kMostVersions);
  reason = why;
  captures.clear();
  append(std::move(first));
}

std::string baseline_json(const Baseline& baseline) {
  TextWriter texts;
  std::string captures;
  JsonWriter of_captures(captures);
  of_captures.begin_array();
  for (const Capture& capture : baseline.captures) write_capture(of_captures, texts, capture);
  of_captures.end_array();
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("traceloom_baseline");
  json.value(kVersion);
  json.key("reason");
  json.value(baseline.reason);
  json.key("older");
  json.begin_array();
  for (const OlderVersion& version : baseline.older) {
    json.begin_object();
    json.key("reason");
    json.value(version.reason);
    write_list(json, "numbers", version.numbers);
    json.end_object();
  }
  json.end_array();
  write_list(json, "texts", texts.texts());
  json.key("captures");
  json.raw(captures);
  json.end_object();
  return text + "\n";
}

bool is_baseline(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(kBegin.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file && begin == kBegin;
}

Baseline read_baseline(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw system_error(path, errno);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!text.starts_with(kBegin))
    throw Error(path, "is no baseline; make one with trace-stats baseline");
  if (!is_strict_json(std::string_view(text).substr(0, text.find_last_not_of(" \n\r\t") + 1)))
    throw Error(path, "is no whole JSON document; make it again with trace-stats baseline");
  return BaselineReader(path, text).read();
}

}  // namespace traceloom
