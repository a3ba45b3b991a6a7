#include "oracle/oracle.h"

#include "oracle/exact_time.h"
#include "oracle/json_value.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace traceloom::oracle {
namespace {

struct TraceEvent {
  const Json* json;
  char phase;
  Attos ts = 0;  // 0 for M
  std::optional<std::string> name;
};

Json parse_trace(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  try {
    return parse_json(text);
  } catch (const std::runtime_error&) {
    std::string repaired(text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
    if (repaired.ends_with(',')) repaired.pop_back();
    return parse_json(repaired + "]");
  }
}

std::optional<Attos> read_time(const Json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->kind != Json::Kind::number && value->kind != Json::Kind::string) return std::nullopt;
  return parse_microseconds(value->text);
}

std::optional<std::string> read_string(const Json& event, std::string_view key) {
  const Json* value = event.find(key);
  if (value == nullptr || value->kind != Json::Kind::string) return std::nullopt;
  return value->text;
}

// The usable events of a document, in file order.
std::vector<TraceEvent> list_events(const Json& document) {
  const Json* list = document.kind == Json::Kind::array ? &document : document.find("traceEvents");
  if (list == nullptr || list->kind != Json::Kind::array)
    throw std::runtime_error("no list of events");
  std::vector<TraceEvent> events;
  for (const Json& element : list->items) {
    const std::optional<std::string> phase = read_string(element, "ph");
    if (!phase || phase->empty()) continue;
    const std::optional<Attos> ts = phase->front() == 'M' ? 0 : read_time(element.find("ts"));
    if (!ts) continue;
    events.push_back({&element, phase->front(), *ts, read_string(element, "name")});
  }
  return events;
}

// Too long, or its end too late, for 64-bit nanoseconds.
bool never_ended(const TraceEvent& event) {
  if (event.phase != 'X') return false;
  const Json* value = event.json->find("dur");
  if (value == nullptr || value->kind != Json::Kind::number) return false;
  const std::optional<Attos> duration = parse_microseconds(value->text);
  if (!duration) return value->text.front() != '-';
  constexpr Attos kAttosOfNs = 1'000'000'000'000'000'000;
  constexpr Attos kMost = std::numeric_limits<std::int64_t>::max();
  return *duration >= ((Attos{1} << 62) + 1) * kAttosOfNs ||
         *duration + event.ts > kMost * kAttosOfNs;
}

std::int64_t duration_of(const TraceEvent& event) {
  if (event.phase != 'X') return 0;
  const Attos duration = never_ended(event) ? 0 : read_time(event.json->find("dur")).value_or(0);
  return duration < 0 ? 0 : round_to_ns(event.ts + duration) - round_to_ns(event.ts);
}

std::int64_t common_ns(const Input& input, std::int64_t file_ns) {
  constexpr std::int64_t kFirstUnixNs = 100'000'000'000'000'000;
  const std::int64_t ns =
      file_ns +
      (file_ns < kFirstUnixNs ? input.relative_shift_ns.value_or(input.shift_ns) : input.shift_ns);
  if (input.drift.empty()) return ns;
  if (ns <= input.drift.front().first) return ns + input.drift.front().second;
  for (std::size_t i = 1; i < input.drift.size(); ++i) {
    const auto& [before, shift] = input.drift[i - 1];
    const auto& [after, next_shift] = input.drift[i];
    if (ns < after)
      return ns + shift +
             static_cast<std::int64_t>(
                 floor_divide(Attos{next_shift - shift} * (ns - before), after - before));
  }
  return ns + input.drift.back().second;
}

std::int64_t common_start(const Input& input, const TraceEvent& event) {
  return common_ns(input, round_to_ns(event.ts));
}

// Returns the time from the start to the end on the common clock.
std::int64_t common_duration(const Input& input, const TraceEvent& event) {
  return common_ns(input, round_to_ns(event.ts) + duration_of(event)) - common_start(input, event);
}

// Viewers take 7 and "7" for the same thread.
std::string id_text(const Json* value) {
  if (value == nullptr) return "";
  const bool is_whole_number =
      !value->text.empty() && value->text.find_first_not_of(
                                  "0123456789", value->text[0] == '-' ? 1 : 0) == std::string::npos;
  return is_whole_number ? value->text : canonical_text(*value);
}

using Row = std::pair<std::string, std::string>;

Row row_of(const TraceEvent& event) {
  return {id_text(event.json->find("pid")), id_text(event.json->find("tid"))};
}

// True for the category that device events have in the random traces.
bool is_on_device(const TraceEvent& event) {
  return read_string(*event.json, "cat") == "kernel";
}

// An X without dur lasts until the last event of its thread begins.
bool is_endless(const TraceEvent& event) {
  const Json* duration = event.json->find("dur");
  return event.phase == 'X' && (duration == nullptr || duration->kind == Json::Kind::null);
}

// The ranks that the global_rank events of a file give to its pids.
std::map<std::string, std::string> ranks_of_pids(const std::vector<TraceEvent>& events) {
  std::map<std::string, std::string> ranks;
  for (const TraceEvent& event : events) {
    if (event.phase != 'M' || event.name != "global_rank") continue;
    const Json* args = event.json->find("args");
    const Json* value = args != nullptr ? args->find("value") : nullptr;
    if (value != nullptr) ranks[id_text(event.json->find("pid"))] = canonical_text(*value);
  }
  return ranks;
}

// The last end of an event by rank; where the file has one rank at most, of all of them.
class LastEnds {
 public:
  explicit LastEnds(const std::vector<TraceEvent>& events) : ranks_(ranks_of_pids(events)) {
    std::set<std::string> different;
    for (const auto& [pid, rank] : ranks_) different.insert(rank);
    is_merged_ = different.size() > 1;
  }
  void note(const TraceEvent& event, std::int64_t end_ns) {
    std::int64_t& last_ns = ends_.try_emplace(rank_of(event), end_ns).first->second;
    last_ns = std::max(last_ns, end_ns);
  }
  std::int64_t of(const TraceEvent& event) const { return ends_.at(rank_of(event)); }

 private:
  std::string rank_of(const TraceEvent& event) const {
    const auto known = ranks_.find(id_text(event.json->find("pid")));
    return is_merged_ && known != ranks_.end() ? known->second : "";
  }

  std::map<std::string, std::string> ranks_;
  bool is_merged_ = false;
  std::map<std::string, std::int64_t> ends_;
};

struct Pairs {
  std::vector<std::pair<const TraceEvent*, const TraceEvent*>> matched;  // B, E
  std::vector<const TraceEvent*> orphans;
  std::vector<const TraceEvent*> unclosed;
  std::map<const TraceEvent*, const TraceEvent*> around;  // for each of those: the first E of a
                                                          // pair around it
};

void pair_thread(std::vector<const TraceEvent*> events, bool is_composer, Pairs& pairs) {
  std::stable_sort(events.begin(), events.end(), [](const TraceEvent* a, const TraceEvent* b) {
    return round_to_ns(a->ts) < round_to_ns(b->ts);
  });
  std::vector<const TraceEvent*> open;
  const std::size_t first_pair = pairs.matched.size();
  for (const TraceEvent* event : events) {
    if (event->phase == 'B') {
      open.push_back(event);
      continue;
    }
    auto begin = std::find_if(open.rbegin(), open.rend(), [event](const TraceEvent* b) {
      return !event->name || b->name == event->name;
    });
    if (begin == open.rend() && !is_composer) begin = open.rbegin();
    if (begin == open.rend()) {
      pairs.orphans.push_back(event);
    } else {
      pairs.matched.emplace_back(*begin, event);
      open.erase(std::next(begin).base());
    }
  }
  pairs.unclosed.insert(pairs.unclosed.end(), open.begin(), open.end());
  // As numbers, since a trace of many chunks has millions of such pairs to compare.
  std::map<const TraceEvent*, std::size_t> places;
  for (std::size_t i = 0; i < events.size(); ++i) places[events[i]] = i;
  std::vector<std::pair<std::size_t, std::size_t>> matched;  // sorted by their E
  for (std::size_t i = first_pair; i < pairs.matched.size(); ++i)
    matched.emplace_back(places.at(pairs.matched[i].first), places.at(pairs.matched[i].second));
  for (const TraceEvent* begin : open) {
    const std::size_t place = places.at(begin);
    const auto around = std::ranges::find_if(
        matched, [place](const auto& pair) { return pair.first < place && place < pair.second; });
    if (around != matched.end()) pairs.around[begin] = events[around->second];
  }
}

Pairs pair_begin_end(const std::vector<TraceEvent>& events) {
  std::map<std::pair<std::string, std::string>, std::vector<const TraceEvent*>> threads;
  for (const TraceEvent& event : events)
    if (event.phase == 'B' || event.phase == 'E')
      threads[{id_text(event.json->find("pid")), id_text(event.json->find("tid"))}].push_back(
          &event);
  const bool is_composer = std::any_of(events.begin(), events.end(), [](const TraceEvent& event) {
    return event.phase == 'M' && event.name == "global_rank";
  });
  Pairs pairs;
  for (const auto& [thread, thread_events] : threads)
    pair_thread(thread_events, is_composer, pairs);
  return pairs;
}

// A merge gives an old async event in an operation this phase, name and category.
struct OperationPart {
  char phase;
  std::string name;
  std::string cat;
};

// Name, scope and id; nullopt for all other events.
std::optional<std::string> operation_of(const TraceEvent& event) {
  if (std::string_view("STpF").find(event.phase) == std::string_view::npos) return std::nullopt;
  const Json* id = event.json->find("id");
  const Json* two_ids = id == nullptr ? event.json->find("id2") : nullptr;
  if (two_ids != nullptr) id = two_ids->find("local");
  const std::string process =
      id == nullptr || two_ids == nullptr ? "" : "local " + id_text(event.json->find("pid"));
  if (id == nullptr && two_ids != nullptr) id = two_ids->find("global");
  if (id == nullptr) return std::nullopt;
  return event.name.value_or("") + '\n' + read_string(*event.json, "scope").value_or("") + '\n' +
         process + '\n' + id_text(id);
}

// args.step where it is a text or a number, else the operation's name.
std::string step_of(const TraceEvent& event) {
  const Json* args = event.json->find("args");
  const Json* step = args == nullptr ? nullptr : args->find("step");
  const bool is_name =
      step != nullptr && (step->kind == Json::Kind::string || step->kind == Json::Kind::number);
  return is_name ? step->text : event.name.value_or("");
}

// Events of one operation, in the order of time. Each gets the category of the innermost S that is
// open, if all that are open have the same. A step begins (T) or ends (p) a slice.
void follow_operation(const std::vector<const TraceEvent*>& events,
                      std::map<const TraceEvent*, OperationPart>& parts) {
  std::vector<std::string> open;  // categories
  for (const TraceEvent* event : events) {
    const std::string cat = read_string(*event->json, "cat").value_or("");
    if (event->phase == 'S') {
      open.push_back(cat);
    } else if (!open.empty()) {
      const bool is_one = std::ranges::count(open, open.back()) == std::ssize(open);
      const std::string name = event->phase == 'F' ? event->name.value_or("") : step_of(*event);
      parts[event] = {event->phase == 'T' ? 'b' : 'e', name, is_one ? open.back() : cat};
      if (event->phase == 'F') open.pop_back();
    }
  }
}

std::map<const TraceEvent*, OperationPart> follow_operations(
    const std::vector<TraceEvent>& events) {
  std::map<std::string, std::vector<const TraceEvent*>> operations;
  for (const TraceEvent& event : events)
    if (const std::optional<std::string> operation = operation_of(event))
      operations[*operation].push_back(&event);
  std::map<const TraceEvent*, OperationPart> parts;
  for (auto& [operation, its_events] : operations) {
    std::ranges::stable_sort(its_events, {},
                             [](const TraceEvent* event) { return round_to_ns(event->ts); });
    follow_operation(its_events, parts);
  }
  return parts;
}

// Nearest rank, `percent` in whole percents.
std::int64_t percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

SummaryRow summarize_name(const std::string& name, std::vector<std::int64_t> durations) {
  std::sort(durations.begin(), durations.end());
  const auto count = static_cast<std::int64_t>(durations.size());
  SummaryRow row;
  row.name = name;
  row.count = durations.size();
  for (const std::int64_t duration : durations) row.total_ns += duration;
  row.min_ns = durations.front();
  row.max_ns = durations.back();
  row.mean_ns =
      static_cast<std::int64_t>(floor_divide(Attos{row.total_ns} * 2 + count, Attos{count} * 2));
  row.p50_ns = percentile(durations, 50);
  row.p90_ns = percentile(durations, 90);
  row.p99_ns = percentile(durations, 99);
  if (count == 1) return row;
  const long double mean = static_cast<long double>(row.total_ns) / static_cast<long double>(count);
  long double squares = 0;
  for (const std::int64_t duration : durations) {
    const long double distance = static_cast<long double>(duration) - mean;
    squares += distance * distance;
  }
  row.stddev_ns = static_cast<double>(std::sqrt(squares / static_cast<long double>(count - 1)));
  return row;
}

}  // namespace

Input load(const std::string& path, std::int64_t rank, std::int64_t shift_ns) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error(path + ": cannot be opened");
  std::string text;
  std::vector<char> chunk(1 << 20);
  int size = 0;
  while ((size = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0)
    text.append(chunk.data(), static_cast<std::size_t>(size));
  gzclose(file);
  if (size < 0) throw std::runtime_error(path + ": cannot be read");
  return {std::move(text), rank, shift_ns};
}

FileSpans find_spans(const Input& input) {
  const Json document = parse_trace(input.text);
  const std::vector<TraceEvent> events = list_events(document);
  FileSpans result;
  for (const TraceEvent& event : events)
    if (event.phase == 'X' && !never_ended(event))
      result.spans.push_back({event.name.value_or(""), 'X', round_to_ns(event.ts),
                              duration_of(event), is_on_device(event)});
  const Pairs pairs = pair_begin_end(events);
  for (const auto& [begin, end] : pairs.matched) {
    const std::int64_t start = round_to_ns(begin->ts);
    result.spans.push_back(
        {begin->name.value_or(""), 'B', start, round_to_ns(end->ts) - start, is_on_device(*begin)});
  }
  result.orphan_ends = pairs.orphans.size();
  result.unclosed_begins = pairs.unclosed.size();
  return result;
}

BeginEnds find_begin_ends(const Json& document) {
  const Json& list = document.kind == Json::Kind::array ? document : *document.find("traceEvents");
  const auto number = [&](const TraceEvent* event) {
    return static_cast<std::size_t>(event->json - list.items.data());
  };
  const std::vector<TraceEvent> events = list_events(document);
  const Pairs pairs = pair_begin_end(events);
  BeginEnds found;
  for (const auto& [begin, end] : pairs.matched)
    found.pairs.emplace_back(number(begin), number(end));
  for (const TraceEvent* end : pairs.orphans) found.orphans.push_back(number(end));
  for (const TraceEvent* begin : pairs.unclosed) found.unclosed.push_back(number(begin));
  return found;
}

std::vector<SummaryRow> summarize(const std::vector<Input>& inputs) {
  std::map<std::pair<std::string, bool>, std::vector<std::int64_t>> durations;
  for (const Input& input : inputs)
    for (const Span& span : find_spans(input).spans)
      durations[{span.name, span.on_device}].push_back(span.duration_ns);
  std::vector<SummaryRow> rows;
  for (const auto& [key, values] : durations) {
    rows.push_back(summarize_name(key.first, values));
    rows.back().on_device = key.second;
  }
  return rows;
}

namespace {

// Empty when there are none.
std::string args_of(const TraceEvent& event) {
  const Json* args = event.json->find("args");
  return args == nullptr ? "" : canonical_text(*args);
}

// Returns the phase that a merge writes for the event.
char phase_in_merge(const TraceEvent& event) {
  const bool has_id = event.json->find("id") != nullptr || event.json->find("id2") != nullptr;
  switch (event.phase) {
    case 'S':
      return has_id ? 'b' : 'S';
    case 'p':
      return has_id ? 'n' : 'p';
    case 'F':
      return has_id ? 'e' : 'F';
    case 'T':
      return has_id ? 'n' : event.json->find("dur") != nullptr ? 'T' : 'i';
    case 'c':
      return 'i';
    default:
      return event.phase;
  }
}

bool is_number(const Json& value) {
  if (value.kind == Json::Kind::number) return true;
  if (value.kind != Json::Kind::string) return false;
  try {
    return parse_json(value.text).kind == Json::Kind::number;
  } catch (const std::runtime_error&) {
    return false;
  }
}

// Returns the args of a counter without values that are no numbers; nullopt if none is left.
std::optional<std::string> counter_args(const TraceEvent& event) {
  const Json* args = event.json->find("args");
  if (args == nullptr || args->kind != Json::Kind::object) return std::nullopt;
  Json numbers = *args;
  numbers.keys.clear();
  numbers.items.clear();
  for (std::size_t i = 0; i < args->keys.size(); ++i) {
    if (!is_number(args->items[i])) continue;
    numbers.keys.push_back(args->keys[i]);
    numbers.items.push_back(args->items[i]);
  }
  if (numbers.keys.empty()) return std::nullopt;
  return canonical_text(numbers);
}

// Members of the end's args stand where both have them.
std::string merged_args(const TraceEvent& begin, const TraceEvent& end) {
  const Json* of_begin = begin.json->find("args");
  const Json* of_end = end.json->find("args");
  if (of_end == nullptr) return args_of(begin);
  if (of_begin == nullptr) return args_of(end);
  if (of_end->keys.empty()) return args_of(begin);
  Json merged = *of_begin;
  if (merged.kind != Json::Kind::object) merged = *of_end;
  for (std::size_t i = 0; i < of_end->keys.size(); ++i) {
    const auto same = std::find(merged.keys.begin(), merged.keys.end(), of_end->keys[i]);
    if (same == merged.keys.end()) {
      merged.keys.push_back(of_end->keys[i]);
      merged.items.push_back(of_end->items[i]);
    } else {
      merged.items[static_cast<std::size_t>(same - merged.keys.begin())] = of_end->items[i];
    }
  }
  return canonical_text(merged);
}

// The first to end of the X around a begin.
std::optional<std::int64_t> end_of_x_around(const Input& input,
                                            const std::vector<TraceEvent>& events,
                                            const TraceEvent& begin) {
  std::optional<std::int64_t> first_end_ns;
  const std::int64_t begin_ns = common_start(input, begin);
  for (const TraceEvent& event : events) {
    if (event.phase != 'X' || row_of(event) != row_of(begin) || is_endless(event) ||
        never_ended(event))
      continue;
    const std::int64_t start_ns = common_start(input, event);
    const std::int64_t end_ns = start_ns + common_duration(input, event);
    if (start_ns < begin_ns && begin_ns < end_ns)
      first_end_ns = std::min(first_end_ns.value_or(end_ns), end_ns);
  }
  return first_end_ns;
}

}  // namespace

std::vector<MergedEvent> merge(const std::vector<Input>& inputs) {
  std::vector<MergedEvent> merged;
  for (const Input& input : inputs) {
    const Json document = parse_trace(input.text);
    const std::vector<TraceEvent> events = list_events(document);
    const std::map<const TraceEvent*, OperationPart> operation_parts = follow_operations(events);
    LastEnds last_ends(events);
    std::map<Row, std::int64_t> last_starts;
    for (const TraceEvent& event : events)
      if (event.phase != 'M') {
        const std::int64_t start_ns = common_start(input, event);
        std::int64_t& last = last_starts.try_emplace(row_of(event), start_ns).first->second;
        last = std::max(last, start_ns);
      }
    const auto add = [&](const TraceEvent& event, char phase, std::int64_t duration,
                         const std::string& args) {
      const auto none_for = [&](const char* phases) {
        return std::string_view(phases).find(phase) == std::string_view::npos ? "" : "(none)";
      };
      merged.push_back({input.rank, common_start(input, event), phase,
                        event.name.value_or(none_for("XBiIR")),
                        read_string(*event.json, "cat").value_or(none_for("stf")), duration, args});
    };
    const auto add_as_written = [&](const TraceEvent& event) {
      const auto part = operation_parts.find(&event);
      if (part != operation_parts.end())
        merged.push_back({input.rank, common_start(input, event), part->second.phase,
                          part->second.name, part->second.cat, 0, args_of(event)});
      else if (is_endless(event))
        add(event, 'X', last_starts[row_of(event)] - common_start(input, event), args_of(event));
      else if (event.phase != 'C')
        add(event, phase_in_merge(event), common_duration(input, event), args_of(event));
      else if (const std::optional<std::string> args = counter_args(event))
        add(event, 'C', 0, *args);
    };
    for (const TraceEvent& event : events) {
      if (event.phase == 'M') continue;
      last_ends.note(event, common_start(input, event) + common_duration(input, event));
      if (event.phase != 'B' && event.phase != 'E' && !never_ended(event)) add_as_written(event);
    }
    for (const TraceEvent& event : events)
      if (never_ended(event))
        add(event, 'X', last_ends.of(event) - common_start(input, event), args_of(event));
    const Pairs pairs = pair_begin_end(events);
    for (const auto& [begin, end] : pairs.matched) {
      const std::int64_t duration_ns = common_start(input, *end) - common_start(input, *begin);
      add(*begin, 'X', duration_ns, merged_args(*begin, *end));
    }
    for (const TraceEvent* begin : pairs.unclosed) {
      const std::int64_t start_ns = common_start(input, *begin);
      std::optional<std::int64_t> end_ns = end_of_x_around(input, events, *begin);
      if (const auto around = pairs.around.find(begin); around != pairs.around.end()) {
        const std::int64_t pair_end_ns = common_start(input, *around->second);
        end_ns = std::min(end_ns.value_or(pair_end_ns), pair_end_ns);
      }
      add(*begin, 'X', end_ns.value_or(last_ends.of(*begin)) - start_ns, args_of(*begin));
    }
  }
  std::sort(merged.begin(), merged.end());
  return merged;
}

std::vector<std::pair<std::string, std::string>> next_slices(const Json& document) {
  const std::vector<TraceEvent> events = list_events(document);
  std::vector<std::pair<std::string, std::string>> found;
  for (const TraceEvent& end : events) {
    if (end.phase != 'f' || read_string(*end.json, "bp") == "e") continue;
    const TraceEvent* next = nullptr;
    const auto later_ns = [&](const TraceEvent& slice) {
      return round_to_ns(slice.ts) - round_to_ns(end.ts);
    };
    for (const TraceEvent& slice : events) {
      if (slice.phase != 'X' || row_of(slice) != row_of(end) || later_ns(slice) < 0) continue;
      if (later_ns(slice) == 0 && &slice < &end) continue;
      const bool is_longer = later_ns(slice) > 0 && next != nullptr &&
                             later_ns(slice) == later_ns(*next) &&
                             duration_of(slice) > duration_of(*next);
      if (next == nullptr || later_ns(slice) < later_ns(*next) || is_longer) next = &slice;
    }
    found.emplace_back(end.name.value_or(""), next == nullptr ? "" : next->name.value_or(""));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace traceloom::oracle
