#include "comparison/captures/baseline.h"

#include "base/arithmetic.h"
#include "base/ascii.h"
#include "base/json_string.h"
#include "base/problems.h"
#include "base/string_table.h"
#include "comparison/judge/judge.h"
#include "input/byte_source.h"
#include "input/input_list.h"
#include "json/json_document.h"
#include "output/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

constexpr std::string_view kBegin = "{\"traceloom_baseline\":";
constexpr std::int64_t kVersion = 4;
constexpr std::int64_t kOneRun = 3;      // the last version in which all captures are one run
constexpr std::int64_t kOneContent = 2;  // the version that does not know what ran in steps
constexpr std::size_t kMostText = std::size_t{512} << 20;
// 20 captures of 4,096 ranks with 500 rows have less. A crafted file asks for more.
constexpr std::size_t kMostRowBytes = std::size_t{2} << 30;
// Ranks that have the sequence of another take no room for it in the file, so this is the limit:
// 4,096 ranks of 16,384 kernels.
constexpr std::size_t kMostSharedBytes = std::size_t{256} << 20;

// An element of a list that is a list of numbers itself.
void write_numbers(JsonWriter& json, const std::vector<std::int64_t>& numbers) {
  json.begin_array();
  for (const std::int64_t number : numbers) json.value(number);
  json.end_array();
}

// Names occur in many rows, so that a row has only the number of its text.
std::vector<std::int64_t> key_numbers(const RowKey& key, StringTable& texts) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(key.role), texts.intern(key.op),
                                    texts.intern(key.name)};
  if (!key.module.empty()) numbers.push_back(texts.intern(key.module));
  return numbers;
}

// The numbers of rows differ little from rank to rank, so that a rank has only the differences to
// the first one that has the row. Sums may wrap around, alike on both ways.
class RowColumn {
 public:
  explicit RowColumn(std::size_t rows) : first_(rows) {}

  std::int64_t difference(std::size_t row, std::int64_t value) {
    return wrapped_difference(value, take_first(row, value));
  }
  std::int64_t value(std::size_t row, std::int64_t difference) {
    const std::int64_t sum = wrapped_sum(difference, first_[row]);
    take_first(row, sum);
    return sum;
  }

 private:
  // Returns the first number of the row, or 0 for that one itself.
  std::int64_t take_first(std::size_t row, std::int64_t value) {
    return first_[row] == 0 ? std::exchange(first_[row], value) : first_[row];
  }

  std::vector<std::int64_t> first_;
};

// The ranks of a capture share these, of one content.
struct SharedRows {
  explicit SharedRows(std::size_t rows) : ns(rows), more_ns(rows), calls(rows) {}

  RowColumn ns;
  RowColumn more_ns;
  RowColumn calls;
  std::vector<std::uint32_t> sequence;
  bool is_first = true;
};

// Returns the place of the rows that ranks share: the first one is that of all steps.
std::size_t place_of(std::optional<std::uint32_t> content) {
  return content ? 1 + std::size_t{*content} : 0;
}

using RowNumbers = std::map<SharedKey, std::uint32_t, KeyOrder>;

RowNumbers number_rows(const Capture& capture) {
  RowNumbers numbers;
  for (const CaptureRank& rank : capture.ranks) {
    auto place = numbers.begin();
    for (const CaptureRow& row : rank.rows) place = std::next(numbers.try_emplace(place, row.key));
  }
  std::uint32_t next = 0;
  for (auto& [key, number] : numbers) number = next++;
  return numbers;
}

// A list of zeros says nothing.
void write_differences(JsonWriter& json, const char* key, const std::vector<std::int64_t>& list) {
  if (std::any_of(list.begin(), list.end(), [](std::int64_t one) { return one != 0; }))
    write_list(json, key, list);
}

void write_rank(JsonWriter& json, const RowNumbers& numbers, SharedRows& shared,
                const CaptureRank& rank) {
  json.member("rank", rank.rank);
  if (rank.content) json.member("content", *rank.content);
  json.member("steps", rank.steps);
  std::vector<std::uint32_t> has;
  std::vector<std::int64_t> ns;
  std::vector<std::int64_t> more_ns;
  std::vector<std::int64_t> calls;
  bool has_all = rank.rows.size() == numbers.size();
  for (const CaptureRow& row : rank.rows) {
    const std::uint32_t number = numbers.find(row.key)->second;
    has_all = has_all && number == has.size();
    has.push_back(number);
    ns.push_back(shared.ns.difference(number, row.exclusive_ns));
    more_ns.push_back(shared.more_ns.difference(number, row.total_ns - row.exclusive_ns));
    calls.push_back(shared.calls.difference(number, row.count));
  }
  if (!has_all) write_list(json, "has", has);
  write_list(json, "ns", ns);
  write_differences(json, "more_ns", more_ns);
  write_differences(json, "calls", calls);
  if (shared.is_first || rank.sequence != shared.sequence)
    write_list(json, "sequence", rank.sequence);
  if (std::exchange(shared.is_first, false)) shared.sequence = rank.sequence;
}

void write_steps(JsonWriter& json, StringTable& texts, const Capture& capture) {
  json.member("name", capture.name);
  write_list(json, "steps_ns", capture.steps_ns);
  json.begin_array("contents");
  for (const StepContent& content : capture.contents.different) {
    std::vector<std::int64_t> names;
    for (const std::string& name : content) names.push_back(texts.intern(name));
    write_numbers(json, names);
  }
  json.end_array();
  write_list(json, "content_of_steps", capture.contents.of_step);
}

void write_capture(JsonWriter& json, StringTable& texts, const Capture& capture) {
  write_steps(json, texts, capture);
  json.member("world_size", capture.world_size);
  write_list(json, "devices", capture.devices);
  write_list(json, "producers", capture.producers);
  json.member("has_python", capture.has_python);
  json.member("peak_bytes", capture.peak_bytes);
  json.begin_array("shapes");
  for (const ShapeTime& shape : capture.shapes)
    write_numbers(json, {texts.intern(shape.op), texts.intern(shape.shapes), shape.ns});
  json.end_array();
  const RowNumbers numbers = number_rows(capture);
  json.begin_array("rows");
  for (const auto& [key, number] : numbers) write_numbers(json, key_numbers(*key, texts));
  json.end_array();
  std::vector<SharedRows> shared(1 + capture.contents.count(), SharedRows(numbers.size()));
  write_objects(json, "ranks", capture.ranks, [&](const CaptureRank& rank) {
    write_rank(json, numbers, shared[place_of(rank.content)], rank);
  });
}

// Reads what baseline_json() wrote.
class BaselineReader {
 public:
  BaselineReader(const std::string& path, const std::string& text) : path_(path), text_(text) {}

  Baseline read() {
    const std::int64_t form = integer(member(text_.root(), "traceloom_baseline").text());
    if (form < kOneContent || form > kVersion) fail("is a baseline of another version");
    has_contents_ = form > kOneContent;
    for (const JsonValue text : member(text_.root(), "texts").elements())
      texts_.push_back(text.string());
    Baseline baseline{member(text_.root(), "reason").string()};
    if (form > kOneRun)
      for (const JsonValue run : member(text_.root(), "earlier_runs").elements())
        for (auto& captures = baseline.runs.emplace_back(); const JsonValue one : run.elements())
          captures.push_back(read_steps(one));
    auto& newest = baseline.runs.emplace_back();
    for (const JsonValue capture : member(text_.root(), "captures").elements())
      newest.push_back(read_capture(capture));
    for (const std::vector<Capture>& run : baseline.runs)
      if (run.empty()) fail("has no captures");
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

  // Reads the whole text as a number of at least `least`.
  std::int64_t integer(std::string_view text, std::int64_t least = 0) const {
    const auto value = whole_number<std::int64_t>(text);
    if (!value || *value < least)
      fail(fmt::format("is no whole baseline: '{}' is not a number", text.substr(0, 40)));
    return *value;
  }

  std::vector<std::int64_t> integers(JsonValue list, std::int64_t least = 0) const {
    std::vector<std::int64_t> values;
    for (const JsonValue one : list.elements()) values.push_back(integer(one.text(), least));
    return values;
  }

  std::vector<std::int64_t> columns(JsonValue list, std::size_t least, std::size_t most) const {
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

  SharedKey key(std::int64_t role, std::int64_t op, std::int64_t name, std::int64_t module) {
    if (role >= static_cast<std::int64_t>(kRoleCount))
      fail("is no whole baseline: a role is not known");
    SharedKey& key = keys_[{role, op, name, module}];
    if (!key)
      key = shared_key(
          {static_cast<Role>(role), text(op), text(name), module == kNoModule ? "" : text(module)});
    return key;
  }

  void take_room(std::size_t bytes) {
    if (bytes > room_) fail("has more rows than a run of 4,096 ranks");
    room_ -= bytes;
  }

  const std::vector<std::uint32_t>& take_shared(const std::vector<std::uint32_t>& sequence) {
    const std::size_t bytes = sequence.size() * sizeof sequence.front();
    if (bytes > shared_room_) fail("has more kernels than a run of 4,096 ranks");
    shared_room_ -= bytes;
    return sequence;
  }

  void add_row(CaptureRank& rank, CaptureRow row) {
    take_room(sizeof row);
    if (row.exclusive_ns < 0 || row.total_ns < 0 || row.count < 0)
      fail("is no whole baseline: a row has a negative number");
    add_to(rank.total_ns, row.exclusive_ns);
    rank.rows.push_back(std::move(row));
  }

  // Returns `size` numbers; zeros for a list that is not there.
  std::vector<std::int64_t> differences(JsonValue list, std::size_t size) const {
    std::vector<std::int64_t> values = integers(list, std::numeric_limits<std::int64_t>::min());
    if (!list.is_there()) values.resize(size);
    if (values.size() != size) fail("is no whole baseline: a row has other columns");
    return values;
  }

  void read_rows(JsonValue object, const std::vector<SharedKey>& keys, SharedRows& shared,
                 CaptureRank& rank) {
    std::vector<std::int64_t> has(keys.size());
    std::iota(has.begin(), has.end(), 0);
    if (object["has"].is_there()) has = integers(object["has"]);
    // Its list of ns stands in the file, so that its rows take no more memory than that allows.
    const auto ns = differences(member(object, "ns"), has.size());
    const auto more_ns = differences(object["more_ns"], has.size());
    const auto calls = differences(object["calls"], has.size());
    for (std::size_t i = 0; i < has.size(); ++i) {
      const auto row = static_cast<std::size_t>(has[i]);
      if (row >= keys.size()) fail("is no whole baseline: a row is missing");
      const std::int64_t own_ns = shared.ns.value(row, ns[i]);
      const std::int64_t all_ns = wrapped_sum(own_ns, shared.more_ns.value(row, more_ns[i]));
      add_row(rank, {keys[row], own_ns, all_ns, shared.calls.value(row, calls[i])});
    }
  }

  // `all` are by content.
  CaptureRank read_rank(JsonValue object, const std::vector<SharedKey>& keys,
                        std::vector<SharedRows>& all) {
    CaptureRank rank;
    rank.rank = integer(member(object, "rank").text());
    if (object["content"].is_there()) rank.content = content(object["content"], all.size() - 1);
    SharedRows& shared = all[place_of(rank.content)];
    const bool is_first = std::exchange(shared.is_first, false);
    rank.steps = static_cast<std::size_t>(integer(member(object, "steps").text()));
    read_rows(object, keys, shared, rank);
    if (is_first || object["sequence"].is_there())
      for (const std::int64_t row : integers(member(object, "sequence")))
        rank.sequence.push_back(static_cast<std::uint32_t>(std::min(row, kNoRow)));
    else
      rank.sequence = take_shared(shared.sequence);
    for (const std::uint32_t row : rank.sequence)
      if (row >= rank.rows.size()) fail("is no whole baseline: a row is missing");
    if (is_first) shared.sequence = rank.sequence;
    return rank;
  }

  std::uint32_t content(JsonValue value, std::size_t count) const {
    const std::int64_t number = integer(value.text());
    if (number >= static_cast<std::int64_t>(count))
      fail("is no whole baseline: what ran in a step is missing");
    return static_cast<std::uint32_t>(number);
  }

  StepContents read_contents(JsonValue object, std::size_t steps) {
    StepContents contents;
    constexpr const char* kMissing = "is no whole baseline: what ran in a step is missing";
    for (const JsonValue list : member(object, "contents").elements()) {
      if (contents.count() > kMostContents) fail(kMissing);
      std::set<std::string> names;
      for (const std::int64_t name : integers(list)) {
        take_room(text(name).size());
        names.insert(text(name));
      }
      contents.different.emplace_back(names.begin(), names.end());
    }
    for (const JsonValue one : member(object, "content_of_steps").elements())
      contents.of_step.push_back(content(one, contents.different.size()));
    const std::size_t known = contents.different.empty() ? 0 : steps;
    if (contents.of_step.size() != known) fail(kMissing);
    return contents;
  }

  Capture read_steps(JsonValue object) {
    Capture capture;
    capture.name = member(object, "name").string();
    capture.steps_ns = integers(member(object, "steps_ns"));
    capture.value_ns = capture_value(capture.steps_ns);
    if (has_contents_) capture.contents = read_contents(object, capture.steps_ns.size());
    return capture;
  }

  Capture read_capture(JsonValue object) {
    Capture capture = read_steps(object);
    capture.world_size = integer(member(object, "world_size").text());
    capture.devices = names(member(object, "devices"));
    capture.producers = names(member(object, "producers"));
    capture.has_python = member(object, "has_python").text() == "true";
    // Older baselines do not have it.
    if (const std::string_view peak = object["peak_bytes"].text(); !peak.empty() && peak != "null")
      capture.peak_bytes = integer(peak);
    for (const JsonValue list : member(object, "shapes").elements()) {
      const std::vector<std::int64_t> shape = columns(list, 3, 3);
      capture.shapes.push_back({text(shape[0]), text(shape[1]), shape[2]});
    }
    std::vector<SharedKey> keys;
    for (const JsonValue list : member(object, "rows").elements()) {
      const std::vector<std::int64_t> row = columns(list, 3, 4);
      // A row without a module ends before it.
      keys.push_back(key(row[0], row[1], row[2], row.size() > 3 ? row[3] : kNoModule));
    }
    std::vector<SharedRows> shared(1 + capture.contents.count(), SharedRows(keys.size()));
    for (const JsonValue rank : member(object, "ranks").elements())
      capture.ranks.push_back(read_rank(rank, keys, shared));
    // Rows are found by their rank.
    std::ranges::stable_sort(capture.ranks, {}, &CaptureRank::rank);
    return capture;
  }

  const std::string& path_;
  JsonDocument text_;
  static constexpr std::int64_t kNoModule = -1;
  static constexpr std::int64_t kNoRow = std::numeric_limits<std::uint32_t>::max();

  bool has_contents_ = false;
  std::vector<std::string> texts_;
  std::map<std::array<std::int64_t, 4>, SharedKey> keys_;  // by the numbers in the file
  std::size_t room_ = kMostRowBytes;
  std::size_t shared_room_ = kMostSharedBytes;
};

// Erases the first elements from `place` on until `most` are left.
template <typename List>
void keep_last(List& list, std::size_t most, std::size_t place = 0) {
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(place);
  if (list.size() > most)
    list.erase(begin, begin + static_cast<std::ptrdiff_t>(list.size() - most));
}

}  // namespace

void Baseline::append(std::vector<Capture> run) {
  if (run.empty()) return;
  keep_last(run, kMostCaptures);
  runs.push_back(std::move(run));
  keep_last(runs, kFirstRuns + kNewestRuns, kFirstRuns);
}

void Baseline::accept(const std::string& why) {
  reason = why;
  runs.clear();
}

std::string baseline_json(const Baseline& baseline) {
  StringTable texts;
  std::string earlier;
  JsonWriter of_earlier(earlier);
  of_earlier.begin_array();
  for (std::size_t i = 0; i + 1 < baseline.runs.size(); ++i)
    write_objects(of_earlier, baseline.runs[i],
                  [&](const Capture& capture) { write_steps(of_earlier, texts, capture); });
  of_earlier.end_array();
  std::string captures;
  JsonWriter of_captures(captures);
  write_objects(of_captures, baseline.runs.back(),
                [&](const Capture& capture) { write_capture(of_captures, texts, capture); });
  const std::string text = json_object([&](JsonWriter& json) {
    json.member("traceloom_baseline", kVersion);
    json.member("reason", baseline.reason);
    json.begin_array("texts");
    for (std::uint32_t number = 0; number < texts.size(); ++number) json.value(texts[number]);
    json.end_array();
    json.key("earlier_runs");
    json.raw(earlier);
    json.key("captures");
    json.raw(captures);
  });
  return text + "\n";
}

namespace {

constexpr std::size_t kSniffedBytes = 64;  // room for the spaces and lines of other programs

bool begins_baseline(std::string begin) {
  std::erase_if(begin, is_space);
  return begin.starts_with(kBegin);
}

}  // namespace

bool is_baseline(const std::string& path) try {
  if (!can_be_reread(path)) return is_pipe(path);  // a look would take bytes out of it
  std::string begin(kSniffedBytes, '\0');
  open_input(path)->read(begin);
  return begins_baseline(begin);
} catch (const Error&) {
  return false;
}

Baseline read_baseline(const std::string& path) {
  std::string text = read_text(path, kMostText);
  if (!begins_baseline(text.substr(0, kSniffedBytes)))
    throw Error(path, is_pipe(path)
                          ? "is no baseline; save a trace that comes through a pipe as a file"
                          : "is no baseline; make one with trace-stats baseline");
  constexpr const char* kSpaces = " \n\r\t";
  text.erase(text.find_last_not_of(kSpaces) + 1);
  text.erase(0, text.find_first_not_of(kSpaces));
  if (!is_strict_json(text))
    throw Error(path, "is no whole JSON document; make it again with trace-stats baseline");
  return BaselineReader(path, text).read();
}

}  // namespace traceloom
