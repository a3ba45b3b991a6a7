#include "merge_corpus/merged_file.h"

#include "clock/time_map.h"
#include "oracle/exact_time.h"
#include "oracle/oracle.h"
#include "support/temporary_folder.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

using oracle::Json;

// A list without its bracket is legal.
Json parse_trace(std::string text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  try {
    return oracle::parse_json(text);
  } catch (const std::runtime_error&) {
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    if (text.ends_with(',')) text.pop_back();
    return oracle::parse_json(text + "]");
  }
}

const std::vector<Json>& events_of(const Json& document) {
  return document.kind == Json::Kind::array ? document.items : document.find("traceEvents")->items;
}

std::string id_of(const Json& event) {
  const Json* id = event.find("id");
  return id == nullptr ? "" : canonical_text(*id);
}

// Viewers take 7 and "7" for the same.
std::string thread_of(const Json& event) {
  return text_of(event, "pid") + " / " + text_of(event, "tid");
}

// A clock sync becomes an instant, the old kind of async event the new one.
std::string phase_in_output(const std::string& phase) {
  if (phase == "c") return "i";
  if (phase == "S") return "b";
  if (phase == "T" || phase == "p") return "n";
  return phase == "F" ? "e" : phase;
}

// A step of an operation is a slice by its own name.
bool is_same_step(const Json& input, const Json& output) {
  const Json* const args = input.find("args");
  const std::string step = args == nullptr ? "" : text_of(*args, "step");
  const std::string name = step.empty() ? text_of(input, "name") : step;
  return text_of(output, "ph") == (text_of(input, "ph") == "T" ? "b" : "e") &&
         text_of(output, "name") == name;
}

bool is_same_event(const Json& input, const Json& output) {
  const std::string phase = text_of(input, "ph").substr(0, 1);
  const std::string written = text_of(output, "ph").substr(0, 1);
  if ((phase == "T" || phase == "p") && is_same_step(input, output)) return true;
  return written == phase_in_output(phase) && text_of(input, "name") == text_of(output, "name") &&
         text_of(input, "cat") == text_of(output, "cat");
}

using FlowKey =
    std::tuple<std::size_t, std::string, std::string, std::string>;  // file, id, cat, name

// Returns the number of flow ends that have a start.
std::size_t count_arrows(const std::vector<EventMatch>& matches, const Json* EventMatch::*side,
                         bool by_file) {
  std::set<FlowKey> starts;
  const auto key = [&](const EventMatch& match) {
    const Json& event = *(match.*side);
    return FlowKey{by_file ? match.file : 0, id_of(event), text_of(event, "cat"),
                   text_of(event, "name")};
  };
  for (const EventMatch& match : matches)
    if (text_of(*match.input, "ph") == "s") starts.insert(key(match));
  std::size_t arrows = 0;
  for (const EventMatch& match : matches)
    if (text_of(*match.input, "ph") == "f") arrows += starts.count(key(match));
  return arrows;
}

}  // namespace

CheckedMerge::CheckedMerge(const std::vector<std::string>& paths, PidLayout pids, AlignBy align_by,
                           const std::function<void(std::string& text)>& change)
    : left_out_(paths.size()) {
  const TemporaryFolder folder;
  MergeOptions options;
  for (const std::string& path : paths) options.inputs.push_back({path, {}});
  options.output = folder.path("merged.json");
  options.threads = 2;
  options.plan.pids = pids;
  options.plan.clock.align_by = align_by;
  summary_ = merge_traces(options);
  text_ = read_file(options.output);
  if (change) change(text_);
  if (folder.entry_count() != 1) faults_.push_back("something else was left beside the output");
  simdjson::dom::parser parser;
  if (const auto error = parser.parse(text_).error()) {
    faults_.push_back(fmt::format("no strict JSON: {}", simdjson::error_message(error)));
    return;
  }
  if (!text_.starts_with("{\"") || !text_.ends_with("}"))
    faults_.push_back("does not start {\" and end }");
  output_ = oracle::parse_json(text_);
  base_ns_ = std::stoll(text_of(output_, "baseTimeNanoseconds"));
  for (const std::string& path : paths) inputs_.push_back(parse_trace(oracle::load(path).text));
  match_joined();
  match_events();
  check_times();
  check_names();
  check_rows();
  check_flows();
}

namespace {

// Returns the group of events that may change places with this event: slices of a track that start
// together, or the samples of a counter. Empty for all other events.
std::string order_group(const Json& written) {
  const char phase = text_of(written, "ph").front();
  const std::string thread = thread_of(written);
  if (phase == 'X' && ns_of(written, "dur") > 0)
    return "X " + thread + " " + text_of(written, "ts");
  if (phase == 'C') return "C " + thread + " " + text_of(written, "name") + " " + id_of(written);
  return {};
}

std::string key_of(const Json& event, std::int64_t start_ns) {
  const std::string name = text_of(event, "name");
  return (name.empty() ? "(none)" : name) + " " + std::to_string(start_ns);
}

// A duration is rounded together with its start.
bool lasts_as_long(const Json& event, const Json& written) {
  return std::abs(ns_of(event, "dur") - ns_of(written, "dur")) <= 1;
}

// The greatest distance between two events that may change places.
constexpr std::size_t kWindow = 30'000;

}  // namespace

// The place of an input's event in the output: where it is due, or where one of its group is.
std::optional<std::size_t> CheckedMerge::find_written(const Json& event, std::int64_t start_ns,
                                                      std::size_t due) const {
  const auto is_it = [&](std::size_t i) {
    return !taken_[i] && is_same_event(event, *written_[i]) &&
           start_ns == ns_of(*written_[i], "ts");
  };
  if (due >= written_.size()) return std::nullopt;
  if (is_it(due)) return due;
  const std::string group = order_group(*written_[due]);
  if (group.empty()) return std::nullopt;
  const std::size_t end = std::min(written_.size(), due + kWindow);
  for (std::size_t i = due - std::min(due, kWindow); i < end; ++i)
    if (order_group(*written_[i]) == group && is_it(i) && lasts_as_long(event, *written_[i]))
      return i;
  return std::nullopt;
}

bool CheckedMerge::JoinedSlice::is_complete() const {
  return text_of(*begin, "ph") == "X";
}

// The slices that may be taken for each other. A B without a name makes a slice named "(none)".
std::map<std::string, CheckedMerge::SameStart> CheckedMerge::slices_by_start() {
  std::map<std::string, SameStart> slices;
  for (std::size_t file = 0; file < inputs_.size(); ++file) {
    const std::vector<Json>& events = events_of(inputs_[file]);
    const auto add = [&](std::size_t begin, std::optional<std::size_t> end) {
      const std::int64_t start_ns = start_of(file, events[begin]);
      std::optional<std::int64_t> duration_ns;
      if (end) duration_ns = start_of(file, events[*end]) - start_ns;
      slices[key_of(events[begin], start_ns)].joined.push_back(
          {file, begin, &events[begin], duration_ns});
    };
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].kind != Json::Kind::object || text_of(events[i], "ph") != "X") continue;
      if (text_of(events[i], "dur").empty())
        add(i, std::nullopt);
      else
        ++slices[key_of(events[i], start_of(file, events[i]))].others;
    }
    const oracle::BeginEnds begin_ends = oracle::find_begin_ends(inputs_[file]);
    for (const auto& [begin, end] : begin_ends.pairs) add(begin, end);
    for (const std::size_t begin : begin_ends.unclosed) add(begin, std::nullopt);
    left_out_[file] = begin_ends.orphans.size();
  }
  for (const Json& event : events_of(output_))
    if (text_of(event, "ph") == "X")
      slices[key_of(event, ns_of(event, "ts"))].written.push_back(&event);
  return slices;
}

// Finds the slice of the output that each JoinedSlice has become: it has its row, name, category,
// start and length.
void CheckedMerge::match_joined() {
  std::map<std::string, SameStart> slices = slices_by_start();
  find_rows(slices);
  for (const bool is_only_one : {true, false})
    for (auto& [key, same] : slices)
      if (is_only_one == (same.joined.size() + same.others == 1))
        for (const JoinedSlice& slice : same.joined) take_joined(slice, same.written);
  std::set<const Json*> joined;
  std::set<std::string> groups;  // in which other events may change places with them
  for (const auto& [begin, slice] : joined_) {
    joined.insert(slice);
    groups.insert(order_group(*slice));
  }
  groups.erase("");
  for (const Json& event : events_of(output_)) {
    if (text_of(event, "ph") == "M" || event.find("added") != nullptr || joined.contains(&event))
      continue;
    if (groups.contains(order_group(event)))
      loose_.emplace(key_of(event, ns_of(event, "ts")), &event);
    else
      written_.push_back(&event);
  }
  taken_.resize(written_.size());
}

// Finds the row of each thread: most of its slices that can be taken for no other are there.
void CheckedMerge::find_rows(const std::map<std::string, SameStart>& slices) {
  std::map<std::pair<std::size_t, std::string>, std::map<std::string, std::size_t>> votes;
  for (const auto& [key, same] : slices)
    if (same.joined.size() == 1 && !same.joined[0].is_complete() && same.others == 0 &&
        same.written.size() == 1)
      ++votes[{same.joined[0].file, thread_of(*same.joined[0].begin)}][thread_of(*same.written[0])];
  for (const auto& [thread, rows] : votes) {
    const auto& row =
        std::ranges::max_element(rows, {}, [](const auto& votes_of) { return votes_of.second; });
    set_row(thread.first, thread.second, row->first);
  }
}

void CheckedMerge::set_row(std::size_t file, const std::string& thread, const std::string& row) {
  row_of_thread_.emplace(std::pair(file, thread), row);
  thread_of_row_.emplace(std::pair(file, row), thread);
}

void CheckedMerge::take_joined(const JoinedSlice& slice, std::vector<const Json*>& written) {
  const auto is_it = [&](const Json* candidate) {
    const std::string unclosed = text_of(*candidate, "unclosed");
    const std::string wanted = slice.is_complete() ? "no dur" : slice.duration_ns ? "" : "true";
    return text_of(*candidate, "cat") == text_of(*slice.begin, "cat") && unclosed == wanted &&
           (!slice.duration_ns || ns_of(*candidate, "dur") == *slice.duration_ns) &&
           is_on_row_of(slice, *candidate);
  };
  const auto found = std::ranges::find_if(written, is_it);
  if (found == written.end())
    return faults_.push_back(fmt::format("no slice is what event {} of file {} begins: {}",
                                         slice.index, slice.file, canonical_text(*slice.begin)));
  if (!slice.is_complete()) set_row(slice.file, thread_of(*slice.begin), thread_of(**found));
  joined_.emplace(std::pair(slice.file, slice.index), *found);
  joined_pairs_ += slice.duration_ns ? 1 : 0;
  written.erase(found);
}

// All slices of B events of a thread go to one row, and those of other threads of the file to
// others.
bool CheckedMerge::is_on_row_of(const JoinedSlice& slice, const Json& written) const {
  if (slice.is_complete()) return true;
  const std::string thread = thread_of(*slice.begin);
  const auto row = row_of_thread_.find({slice.file, thread});
  if (row != row_of_thread_.end()) return row->second == thread_of(written);
  return !thread_of_row_.contains({slice.file, thread_of(written)});
}

std::int64_t CheckedMerge::start_of(std::size_t file, const Json& event) const {
  return summary_.files[file].times->since(base_ns_).mapped_or_same(ns_of(event, "ts"));
}

// Returns the order of the inputs; the files of one rank are sorted by their first events within
// the places that these files have.
std::vector<std::size_t> CheckedMerge::order_of_files() const {
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::size_t>>> cycles;
  for (std::size_t file = 0; file < inputs_.size(); ++file) {
    std::optional<std::int64_t> first_ns;
    for (const Json& event : events_of(inputs_[file])) {
      if (event.kind != Json::Kind::object || text_of(event, "ph").empty()) continue;
      if (text_of(event, "ph") == "M" || text_of(event, "ts").empty()) continue;
      const std::int64_t start_ns = start_of(file, event);
      first_ns = std::min(first_ns.value_or(start_ns), start_ns);
    }
    const MergedFile& facts = summary_.files[file];
    if (first_ns && facts.events_of_rank.empty()) cycles[facts.rank].emplace_back(*first_ns, file);
  }
  std::vector<std::size_t> order(inputs_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const auto& [rank, files] : cycles) {
    std::vector<std::pair<std::int64_t, std::size_t>> by_time = files;
    std::stable_sort(by_time.begin(), by_time.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < files.size(); ++i) order[files[i].second] = by_time[i].second;
  }
  return order;
}

const Json* CheckedMerge::take_loose(const Json& event, std::int64_t start_ns) {
  const auto [first, last] = loose_.equal_range(key_of(event, start_ns));
  const auto found = std::find_if(first, last, [&](const auto& one) {
    return is_same_event(event, *one.second) && lasts_as_long(event, *one.second);
  });
  if (found == last) return nullptr;
  const Json* const written = found->second;
  loose_.erase(found);
  return written;
}

void CheckedMerge::match_events() {
  std::size_t due = 0;
  for (const std::size_t file : order_of_files()) {
    const std::vector<Json>& events = events_of(inputs_[file]);
    for (std::size_t index = 0; index < events.size(); ++index) {
      const Json& event = events[index];
      const std::string phase = event.kind == Json::Kind::object ? text_of(event, "ph") : "";
      if (phase.empty() || phase == "M" || phase[0] == 'E') continue;
      if (const auto slice = joined_.find({file, index}); slice != joined_.end()) {
        matches_.push_back({file, index, &event, slice->second});
        continue;
      }
      if (phase[0] == 'B') continue;  // a fault already
      const std::int64_t start_ns = start_of(file, event);
      const std::optional<std::size_t> at = find_written(event, start_ns, due);
      if (!at) {
        if (const Json* const loose = take_loose(event, start_ns)) {
          matches_.push_back({file, index, &event, loose});
          continue;
        }
        faults_.push_back(fmt::format("event {} of file {} is not where it should be: {}", index,
                                      file, canonical_text(event)));
        return;
      }
      matches_.push_back({file, index, &event, written_[*at]});
      taken_[*at] = true;
      ++due;
    }
  }
  if (due != written_.size() || !loose_.empty())
    faults_.push_back("the output has events that no input has");
  for (std::size_t file = 0; file < inputs_.size(); ++file)
    if (left_out_[file] != summary_.files[file].problems.count(Problem::end_without_begin))
      faults_.push_back(
          fmt::format("{} end events of file {} have no begin, not as many as were counted",
                      left_out_[file], file));
}

void CheckedMerge::check_times() {
  for (const EventMatch& match : matches_) {
    const std::string ts = text_of(*match.output, "ts");
    const std::size_t point = ts.find('.');
    const bool is_plain = ts.find_first_not_of("0123456789.") == std::string::npos;
    if (match.output->find("ts")->kind != Json::Kind::number || !is_plain ||
        (point != std::string::npos && ts.size() - point > 4))
      return faults_.push_back("ts " + ts);
    if (text_of(*match.output, "ph") == "X" && ns_of(*match.output, "dur") < 0)
      return faults_.push_back("dur " + text_of(*match.output, "dur"));
  }
}

void CheckedMerge::check_names() {
  std::map<std::string, int> names;
  for (const Json& event : events_of(output_)) {
    if (text_of(event, "ph") != "M") continue;
    const std::string name = text_of(event, "name");
    if (name == "process_name") ++names[text_of(event, "pid")];
    if (name == "thread_name") ++names[thread_of(event)];
  }
  for (const auto& [row, count] : names)
    if (count != 1) faults_.push_back(fmt::format("{} has {} names", row, count));
  std::set<std::string> nameless;
  for (const EventMatch& match : matches_) {
    if (!names.contains(text_of(*match.output, "pid")))
      nameless.insert(text_of(*match.output, "pid"));
    if (match.output->find("tid") == nullptr && text_of(*match.output, "ph") == "C") continue;
    if (!names.contains(thread_of(*match.output))) nameless.insert(thread_of(*match.output));
  }
  for (const std::string& row : nameless) faults_.push_back(row + " has no name");
}

void CheckedMerge::check_rows() {
  std::map<std::pair<std::size_t, std::string>, std::string> sources;
  std::set<std::string> mixed;
  for (const EventMatch& match : matches_) {
    const std::string phase = text_of(*match.output, "ph");
    const Json* tid = match.output->find("tid");
    // A counter is a row of its own; an event without a pid is put where the others are.
    if (phase == "C" || match.input->find("pid") == nullptr) continue;
    const std::int64_t number =
        tid == nullptr || tid->kind != Json::Kind::number ? 0 : std::stoll(tid->text);
    if (number < 1 || number > 4'294'967'295) mixed.insert("tid " + text_of(*match.output, "tid"));
    const std::string& source =
        sources.try_emplace({match.file, thread_of(*match.output)}, thread_of(*match.input))
            .first->second;
    if (source != thread_of(*match.input))
      mixed.insert(fmt::format("{} holds {} and {}", thread_of(*match.output), source,
                               thread_of(*match.input)));
  }
  faults_.insert(faults_.end(), mixed.begin(), mixed.end());
}

void CheckedMerge::check_flows() {
  const std::size_t before = count_arrows(matches_, &EventMatch::input, true);
  const std::size_t after = count_arrows(matches_, &EventMatch::output, false);
  if (before != after) faults_.push_back(fmt::format("{} flows became {}", before, after));
  std::map<std::string, std::size_t> file_of_id;
  for (const EventMatch& match : matches_) {
    const std::string phase = text_of(*match.output, "ph");
    if (phase != "s" && phase != "t" && phase != "f") continue;
    if (match.output->find("id") == nullptr) continue;
    const std::size_t file = file_of_id.try_emplace(id_of(*match.output), match.file).first->second;
    if (file != match.file)
      return faults_.push_back("two files share the flow id " + id_of(*match.output));
  }
}

std::string text_of(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  return value == nullptr || value->kind == Json::Kind::null ? "" : value->text;
}

std::int64_t ns_of(const Json& event, std::string_view key) {
  const std::optional<oracle::Attos> time = oracle::parse_microseconds(text_of(event, key));
  return time ? oracle::round_to_ns(*time) : 0;
}

std::string joined(const std::vector<std::string>& faults) {
  return fmt::format("{}", fmt::join(faults, "\n"));
}

std::filesystem::path reference_traces() {
  const std::filesystem::path root = std::filesystem::path(TRACELOOM_SHARED_DIR) / "traces";
  if (std::filesystem::is_directory(root)) return root;
  fmt::print("skipped: no reference traces under {}\n", TRACELOOM_SHARED_DIR);
  return {};
}

}  // namespace traceloom
