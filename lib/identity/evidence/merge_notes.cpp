#include "identity/evidence/merge_notes.h"

#include "base/arithmetic.h"
#include "event/event_timing.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace traceloom {
namespace {

// Returns false if `list` is no list of times.
bool read_times(JsonValue list, std::vector<std::int64_t>& times) {
  bool is_good = list.is_list();
  for (const JsonValue value : list.elements()) {
    const std::optional<ParsedTime> time = parse_time(value.text());
    is_good = is_good && time && is_usable_stamp(time->rounded_ns());
    if (is_good) times.push_back(time->rounded_ns());
  }
  return is_good;
}

}  // namespace

std::optional<SyncRounds> read_rounds(JsonValue object) {
  SyncRounds rounds;
  const bool is_good = read_times(object["enter"], rounds.enter_ns) &&
                       read_times(object["exit"], rounds.exit_ns) && is_possible(rounds);
  return is_good ? std::optional(std::move(rounds)) : std::nullopt;
}

namespace {

// Returns false for impossible rounds. Without rounds, `rounds` stays empty.
bool read_rounds_if_any(JsonValue object, SyncRounds& rounds) {
  if (!object.is_there()) return true;
  std::optional<SyncRounds> found = read_rounds(object);
  if (!found) return false;
  rounds = *std::move(found);
  return true;
}

std::optional<MergedCycle> read_cycle(JsonValue cycle) {
  const JsonValue name = cycle["cycle"];
  const auto sync_us = cycle["sync_us"].integer();
  const auto first_ns = cycle["first_ns"].integer();
  const auto last_ns = cycle["last_ns"].integer();
  if (!name.is_string() || !sync_us || !first_ns || !last_ns || *last_ns < *first_ns)
    return std::nullopt;
  MergedCycle found{name.string(), *sync_us, *first_ns, *last_ns};
  const auto bound_us = cycle["error_bound_us"].integer();
  if (bound_us && *bound_us >= 0) found.error_bound_us = bound_us;
  const bool is_good = read_rounds_if_any(cycle["start_rounds"], found.rounds.start) &&
                       read_rounds_if_any(cycle["end_rounds"], found.rounds.end);
  return is_good ? std::optional(std::move(found)) : std::nullopt;
}

// Returns the moment of the file's sync on the common clock.
std::int64_t moment_us(const ClockFacts& file, const FileClock& clock) {
  const std::int64_t shift_ns = saturating_subtract(clock.offset_ns, file.base_ns.value_or(0));
  return saturating_add(*file.sync_us, shift_ns / 1000);
}

// A cycle, and what the files tell of it.
struct FoundCycle {
  std::optional<std::int64_t> rank;  // rank whose stamp the cycle has
  MergedCycle cycle;
  std::optional<std::int64_t> first_ns;
};

// The lowest rank gives the moment and the name, because the reference is not shifted.
void add_stamp(const ClockFacts& file, const FileClock& clock, FoundCycle& found) {
  keep_least(found.cycle.error_bound_us, file.error_bound_us);
  if (found.rank && *found.rank <= file.rank) return;
  found.rank = file.rank;
  found.cycle.name = file.cycle;
  found.cycle.sync_us = moment_us(file, clock);
}

// A file without a sync of its own belongs to the cycle in which it ends, unless it begins in an
// earlier one.
void begin_with(const CommonTimes& file, std::vector<MergedCycle>& cycles) {
  const auto next = std::ranges::upper_bound(cycles, file.last_ns, {}, &MergedCycle::first_ns);
  if (next == cycles.begin()) return;
  const auto cycle = std::prev(next);
  if (cycle == cycles.begin() || std::prev(cycle)->last_ns < file.first_ns)
    cycle->first_ns = std::min(cycle->first_ns, file.first_ns);
}

// Ends each cycle with the last event before the next cycle.
void end_cycles(std::vector<CommonTimes>& files, std::vector<MergedCycle>& cycles) {
  std::ranges::sort(files, {}, &CommonTimes::first_ns);
  auto file = files.begin();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  for (auto cycle = cycles.begin(); cycle != cycles.end(); ++cycle) {
    const auto next = std::next(cycle);
    const bool is_last = next == cycles.end();
    for (; file != files.end() && (is_last || file->first_ns < next->first_ns); ++file)
      last_ns = std::max(last_ns, file->last_ns);
    cycle->last_ns = is_last ? last_ns : std::min(last_ns, next->first_ns - 1);
  }
}

// The result is not known if one of the two values is not.
void keep_most(std::optional<std::int64_t>& most, const std::optional<std::int64_t>& other) {
  most = most && other ? std::optional(std::max(*most, *other)) : std::nullopt;
}

}  // namespace

std::optional<std::vector<MergedCycle>> read_cycles(JsonValue traceloom) {
  std::vector<MergedCycle> cycles;
  const JsonValue list = traceloom["cycles"];
  bool is_whole = !list.is_there() || list.is_list();
  for (const JsonValue element : list.elements()) {
    if (std::optional<MergedCycle> cycle = read_cycle(element))
      cycles.push_back(*std::move(cycle));
    else
      is_whole = false;
  }
  const auto not_before = [](const MergedCycle& a, const MergedCycle& b) {
    return a.first_ns >= b.first_ns;
  };
  const bool ascend = std::ranges::adjacent_find(cycles, not_before) == cycles.end();
  return is_whole && ascend ? std::optional(std::move(cycles)) : std::nullopt;
}

std::vector<MergedCycle> find_cycles(const std::vector<ClockFacts>& files,
                                     const std::vector<FileClock>& clocks,
                                     const std::vector<StartTimes>& starts) {
  std::map<std::size_t, FoundCycle> found;  // keyed by FileClock::cycle
  std::vector<CommonTimes> placed;          // files with events
  std::vector<CommonTimes> others;          // files of no cycle
  for (std::size_t i = 0; i < files.size(); ++i) {
    const FileClock& clock = clocks[i];
    const CommonTimes times = common_times(starts[i], clock.times);
    if (!starts[i].empty()) (clock.cycle ? placed : others).push_back(times);
    if (!clock.cycle) continue;
    FoundCycle& one = found[*clock.cycle];
    if (!starts[i].empty()) keep_least(one.first_ns, std::optional(times.first_ns));
    if (!clock.rounds.start.empty()) one.cycle.rounds.start = clock.rounds.start;
    if (!clock.rounds.end.empty()) one.cycle.rounds.end = clock.rounds.end;
    if (clock.method != ClockMethod::sync_of_rank) add_stamp(files[i], clock, one);
  }
  std::vector<MergedCycle> cycles;
  for (const auto& [number, one] : found)
    if (one.rank && one.first_ns) cycles.emplace_back(one.cycle).first_ns = *one.first_ns;
  std::ranges::stable_sort(cycles, {}, &MergedCycle::first_ns);
  const auto same = std::ranges::unique(cycles, {}, &MergedCycle::first_ns);
  cycles.erase(same.begin(), same.end());
  end_cycles(placed, cycles);
  for (const CommonTimes& file : others) begin_with(file, cycles);
  placed.insert(placed.end(), others.begin(), others.end());
  end_cycles(placed, cycles);
  return cycles;
}

std::vector<FilePart> parts_of(const ClockFacts& file, const StartTimes& starts,
                               const std::vector<MergedCycle>& cycles) {
  if (!file.is_merged || cycles.empty()) return {{file, starts}};
  const std::int64_t base_ns = file.base_ns.value_or(0);
  std::vector<FilePart> parts;
  for (const MergedCycle& cycle : cycles) {
    FilePart& part = parts.emplace_back(FilePart{file, {}});
    part.facts.cycle = cycle.name;
    part.facts.sync_us = cycle.sync_us;
    part.facts.error_bound_us = cycle.error_bound_us;
    part.facts.rounds = cycle.rounds;
    part.facts.first_ns = saturating_subtract(cycle.first_ns, base_ns);
    part.facts.last_ns = saturating_subtract(cycle.last_ns, base_ns);
    part.starts.add(*part.facts.first_ns);
    part.starts.add(*part.facts.last_ns);
  }
  return parts;
}

FileClock join_parts(const ClockFacts& file, const std::vector<MergedCycle>& cycles,
                     std::vector<FileClock> parts) {
  FileClock clock = parts.front();
  if (parts.size() == 1) return clock;
  std::vector<TimeMap::Cycle> times;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    times.push_back({cycles[i].first_ns, cycles[i].last_ns, parts[i].times});
    if (i == 0) continue;
    clock.problems.add(parts[i].problems);
    keep_most(clock.error_ns, parts[i].error_ns);
    keep_most(clock.worst_error_ns, parts[i].worst_error_ns);
  }
  clock.times = TimeMap::joined(file.base_ns.value_or(0), times);
  return clock;
}

namespace {

// Returns nullopt if the tally is missing or damaged; the input is then looked up by its name.
std::optional<EventTally> read_tally(JsonValue object) {
  const auto events = object["events"].integer();
  const auto first_ns = object["first_ns"].integer();
  const auto last_ns = object["last_ns"].integer();
  const auto sum_ns = object["sum_ns"].integer();
  const auto lengths_ns = object["lengths_ns"].integer();
  const auto first_event = object["first_event"].integer();
  if (!events || *events < 0 || !first_ns || !last_ns || !sum_ns || !lengths_ns || !first_event)
    return std::nullopt;
  return EventTally{{.events = static_cast<std::uint64_t>(*events),
                     .first_ns = *first_ns,
                     .last_ns = *last_ns,
                     .sum_ns = static_cast<std::uint64_t>(*sum_ns),
                     .lengths_ns = static_cast<std::uint64_t>(*lengths_ns)},
                    static_cast<std::uint64_t>(*first_event)};
}

std::vector<Stamp> read_stamps(JsonValue list, std::int64_t rank) {
  std::vector<Stamp> stamps;
  for (const JsonValue object : list.elements()) {
    stamps.push_back({object["rank"].integer().value_or(rank), object["tid"].string(),
                      object["sync_us"].integer()});
  }
  return stamps;
}

MergedInput read_input(JsonValue object, std::int64_t rank) {
  MergedInput input;
  input.rank = rank;
  input.path = object["path"].string();
  const std::string evidence = object["evidence"].string();
  input.says_rank = evidence != "position" && evidence != "RANK= argument";
  const std::string method = object["method"].string();
  input.has_clock = method != "none";
  input.by_collectives = method == to_string(ClockMethod::collectives);
  input.offset_ns = object["offset_ns"].integer().value_or(0);
  const auto events = object["events"].integer();
  const auto filtered = object["filtered"].integer();
  if (events && *events >= 0)
    input.events = static_cast<std::uint64_t>(saturating_add(*events, filtered.value_or(0)));
  input.tally = read_tally(object["tally"]);
  input.is_part = object["is_part"].text() == "true";
  input.stamps = read_stamps(object["stamps"], rank);
  input.has_several_ranks = object["has_several_ranks"].text() == "true";
  return input;
}

}  // namespace

std::vector<MergedInput> read_merged_inputs(JsonValue traceloom) {
  std::vector<MergedInput> inputs;
  const bool is_filtered = traceloom["filter"].is_there();
  for (const JsonValue of_rank : traceloom["ranks"].elements()) {
    const auto rank = of_rank["rank"].integer();
    if (!rank) continue;
    for (const JsonValue file : of_rank["files"].elements()) {
      const std::size_t known = inputs.size();
      for (const JsonValue input : file["inputs"].elements())
        inputs.push_back(read_input(input, *rank));
      if (inputs.size() == known) inputs.push_back(read_input(file, *rank));
    }
  }
  for (MergedInput& input : inputs) input.is_part = input.is_part || is_filtered;
  return inputs;
}

std::vector<MergedInput> inputs_of_rank(const std::vector<MergedInput>& inputs, std::int64_t rank,
                                        std::int64_t offset_ns, std::int64_t base_ns) {
  std::vector<MergedInput> moved;
  for (const MergedInput& input : inputs) {
    if (input.rank != rank) continue;
    moved.push_back(input);
    moved.back().offset_ns =
        saturating_add(input.offset_ns, saturating_subtract(offset_ns, base_ns));
  }
  return moved;
}

namespace {

using Strings = std::vector<std::string>;

Strings read_texts(JsonValue list) {
  Strings texts;
  for (const JsonValue text : list.elements()) texts.push_back(text.string());
  return texts;
}

std::optional<NotedFilter::Steps> read_steps(JsonValue list) {
  std::vector<std::optional<std::int64_t>> ends;
  for (const JsonValue end : list.elements()) ends.push_back(end.integer());
  if (ends.size() != 2) return std::nullopt;
  return NotedFilter::Steps{ends[0], ends[1]};
}

bool is_before(const NotedFilter::Steps& a, const NotedFilter::Steps& b) {
  return a.last && b.first && *a.last < *b.first;
}

bool is_among(const Strings& chosen, const Strings& texts) {
  return !chosen.empty() && std::ranges::all_of(chosen, [&](const std::string& text) {
    return std::ranges::find(texts, text) != texts.end();
  });
}

bool share_one(const Strings& a, const Strings& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

bool excludes_all_of(const NotedFilter& a, const NotedFilter& b) {
  return is_among(b.categories, a.excluded_categories) || is_among(b.names, a.excluded_names);
}

}  // namespace

std::optional<NotedFilter> read_noted_filter(JsonValue traceloom) {
  const JsonValue filter = traceloom["filter"];
  if (!filter.is_there()) return std::nullopt;
  return NotedFilter{.steps = read_steps(filter["steps"]),
                     .categories = read_texts(filter["categories"]),
                     .excluded_categories = read_texts(filter["exclude_categories"]),
                     .names = read_texts(filter["names"]),
                     .excluded_names = read_texts(filter["exclude_names"])};
}

bool exclude_each_other(const NotedFilter& a, const NotedFilter& b) {
  if (a.steps && b.steps && (is_before(*a.steps, *b.steps) || is_before(*b.steps, *a.steps)))
    return true;
  if (!a.categories.empty() && !b.categories.empty() && !share_one(a.categories, b.categories))
    return true;
  return excludes_all_of(a, b) || excludes_all_of(b, a);
}

namespace {

constexpr std::string_view kWhen = "found when it was merged: ";
constexpr std::array kNoted{Problem::clock_conflict, Problem::no_common_collective,
                            Problem::ranks_apart};

}  // namespace

void add_noted_problems(JsonValue traceloom, ProblemCounts& problems) {
  std::array<std::string, kNoted.size()> words;
  for (const JsonValue object : traceloom["problems"].elements()) {
    const std::string kind = object["kind"].string();
    const auto known = std::ranges::find(
        kNoted, kind, [](Problem problem) { return std::string(describe(problem).name); });
    const std::int64_t count = object["count"].integer().value_or(0);
    if (known == kNoted.end() || count <= 0) continue;
    problems.add(*known, 0, static_cast<std::uint64_t>(count));
    std::string detail = object["detail"].string();
    if (detail.starts_with(kWhen)) detail.erase(0, kWhen.size());
    // A merged file is moved as a whole, so the option for one of its ranks would do nothing.
    // Older notes have the option without the command.
    for (const std::string_view option : {"; trace-merge --offset ", "; --offset "})
      detail.erase(std::min(detail.find(option), detail.size()));
    std::string& all = words[static_cast<std::size_t>(known - kNoted.begin())];
    all += (all.empty() ? "" : "; ") + detail;
  }
  for (std::size_t i = 0; i < kNoted.size(); ++i)
    if (!words[i].empty()) problems.explain(kNoted[i], std::string(kWhen) + words[i]);
}

}  // namespace traceloom
