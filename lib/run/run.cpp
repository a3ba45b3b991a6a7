#include "run/run.h"

#include "base/arithmetic.h"
#include "identity/capture/capture.h"
#include "run/event_collector.h"
#include "run/gather_events.h"
#include "run/impossible_work.h"
#include "run/steps.h"
#include "team/team.h"
#include "team/wire.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// Returns the producer, as far as the metadata and the values outside the event list name it.
std::string producer_of(const FileEvidence& evidence) {
  if (evidence.was_merged_by_us()) return "traceloom " + evidence.merged_by;
  if (evidence.has_several_ranks()) return "a merge of several ranks";
  if (evidence.recorder.opened_ns()) return std::string(kRecorderProducer);
  if (!evidence.rank_marks.empty()) return "Composer";
  return evidence.is_torch ? std::string(kTorchProducer) : "unknown";
}

bool goes_by_collectives(const FileEvidence& evidence, const FileClock& clock) {
  return clock.method == ClockMethod::collectives ||
         std::ranges::any_of(evidence.inputs, &MergedInput::by_collectives);
}

RunFile describe_run_file(const std::string& path, const CollectedEvents& file,
                          const FileRank& rank, const FileClock& clock) {
  RunFile described{describe_file(path, file, rank)};
  if (!file.counts()) return described;
  described.clock = clock.method;
  described.offset_ns = clock.offset_ns;
  described.collectives = clock.collectives;
  described.producer = producer_of(file.evidence);
  described.events -= file.phases['M'];  // as a merge counts: metadata says what the others mean
  described.world_size = rank.world_size.value_or(file.evidence.merged_world_size);
  described.devices = file.evidence.devices;
  described.rank_source = to_string(rank.source);
  described.phases = file.phases;
  const CommonTimes times = common_times(file.starts, clock.times);
  if (!file.starts.empty()) described.span_ns = saturating_subtract(times.last_ns, times.first_ns);
  described.clock_problems = clock.problems;
  count_outliers(file.starts, clock.times, described.problems);
  return described;
}

// Returns false for a time that is on no common time line.
bool map_span(HostSpan& span, const TimeMap& times) {
  const std::int64_t end_ns = times.end_or_same(span.start_ns, span.end_ns);
  if (!times.map(span.start_ns, span.start_ns)) return false;
  span.end_ns = std::max(span.start_ns, end_ns);
  return true;
}

template <typename Row>
void map_times(std::vector<Row>& rows, const TimeMap& times) {
  auto kept = rows.begin();
  for (Row& row : rows)
    if (map_span(row, times)) *kept++ = row;
  rows.erase(kept, rows.end());
}

template <typename Row>
void map_times(PackedRows<Row>& rows, const TimeMap& times) {
  rows.rewrite([&](Row& row) { return map_span(row, times); });
}

template <typename Sample>
void map_starts(std::vector<Sample>& samples, const TimeMap& times) {
  auto kept = samples.begin();
  for (Sample& sample : samples)
    if (times.map(sample.start_ns, sample.start_ns)) *kept++ = sample;
  samples.erase(kept, samples.end());
}

void map_times(EventColumns& part, const TimeMap& times) {
  map_times(part.hosts, times);
  map_times(part.operators, times);
  map_times(part.frames, times);
  map_times(part.calls, times);
  map_times(part.devices, times);
  map_times(part.marks, times);
  map_starts(part.memory, times);
  map_starts(part.counters, times);
}

// Moves the parts of a file to the ranks to which they belong. `rank_of_track` covers all tracks.
class RankSorter {
 public:
  RankSorter(const RunRequest& request, const Tracks& tracks, const RunInputs& capture)
      : request_(request) {
    for (std::uint32_t track = 0; track < tracks.size(); ++track)
      rank_of_track_.push_back(
          capture.ranks[tracks.file(track)].rank_of(tracks.pid(track), tracks.tid(track)));
  }

  void take_file(std::size_t number, const FileRank& file, std::vector<EventColumns>& parts) {
    for (EventColumns& part : parts) {
      part.file = number;
      if (file.is_merged())
        take_merged(part);
      else if (is_wanted(file.rank))
        ranks_[file.rank].push_back(std::move(part));
      part = {};
    }
    // a wanted rank exists even if it is empty
    if (!file.is_merged() && is_wanted(file.rank)) ranks_[file.rank];
  }

  std::vector<RankEvents> finish() {
    std::vector<RankEvents> ranks;
    for (auto& [rank, parts] : ranks_) ranks.push_back({rank, std::move(parts), {}});
    return ranks;
  }

 private:
  bool is_wanted(std::int64_t rank) const {
    return request_.ranks.empty() || is_in(request_.ranks, rank);
  }

  template <typename Rows>
  void spread(const Rows& rows, Rows EventColumns::*column,
              std::map<std::int64_t, EventColumns>& by_rank) {
    for (const auto& row : rows)
      if (const std::int64_t rank = rank_of_track_[row.track]; is_wanted(rank))
        (by_rank[rank].*column).push_back(row);
  }

  void take_merged(const EventColumns& part) {
    std::map<std::int64_t, EventColumns> by_rank;
    spread(part.hosts, &EventColumns::hosts, by_rank);
    spread(part.operators, &EventColumns::operators, by_rank);
    spread(part.frames, &EventColumns::frames, by_rank);
    spread(part.calls, &EventColumns::calls, by_rank);
    spread(part.devices, &EventColumns::devices, by_rank);
    spread(part.marks, &EventColumns::marks, by_rank);
    spread(part.unknown, &EventColumns::unknown, by_rank);
    spread(part.memory, &EventColumns::memory, by_rank);
    spread(part.counters, &EventColumns::counters, by_rank);
    for (auto& [rank, columns] : by_rank) {
      columns.file = part.file;
      ranks_[rank].push_back(std::move(columns));
    }
  }

  const RunRequest& request_;
  std::vector<std::int64_t> rank_of_track_;
  std::map<std::int64_t, std::vector<EventColumns>> ranks_;
};

bool is_in_any(const std::vector<TimeWindow>& windows, std::int64_t ns) {
  return std::any_of(windows.begin(), windows.end(),
                     [&](const TimeWindow& window) { return window.contains(ns); });
}

template <typename Row>
void keep_rows(std::vector<Row>& rows, const std::vector<TimeWindow>& windows) {
  std::erase_if(rows, [&](const Row& row) { return !is_in_any(windows, row.start_ns); });
}

template <typename Row>
void keep_rows(PackedRows<Row>& rows, const std::vector<TimeWindow>& windows) {
  rows.rewrite([&](const Row& row) { return is_in_any(windows, row.start_ns); });
}

void keep_rows(RankEvents& rank, const std::vector<TimeWindow>& windows) {
  for (EventColumns& part : rank.parts) {
    std::vector<CallSpan> calls = part.calls;
    keep_rows(part.hosts, windows);
    keep_rows(part.operators, windows);
    keep_rows(part.frames, windows);
    keep_rows(part.calls, windows);
    keep_rows(part.devices, windows);
    keep_rows(part.marks, windows);
    keep_rows(part.memory, windows);
    keep_rows(part.counters, windows);
    std::erase_if(calls, [&](const CallSpan& call) {
      return call.correlation == kNoId || is_in_any(windows, call.start_ns);
    });
    part.calls_outside.insert(part.calls_outside.end(), calls.begin(), calls.end());
  }
}

// Keeps calls that launched selected work. Without them the first work of a selection would have no
// launch.
void keep_launching_calls(RankEvents& rank) {
  const auto has_none = [](const EventColumns& part) { return part.calls_outside.empty(); };
  if (std::all_of(rank.parts.begin(), rank.parts.end(), has_none)) return;
  std::vector<std::pair<std::size_t, std::int64_t>> launched;
  for (const EventColumns& part : rank.parts)
    for (const DeviceSpan& span : part.devices) launched.emplace_back(part.file, span.correlation);
  std::sort(launched.begin(), launched.end());
  for (EventColumns& part : rank.parts)
    std::erase_if(part.calls_outside, [&](const CallSpan& call) {
      return !std::binary_search(launched.begin(), launched.end(),
                                 std::pair{part.file, call.correlation});
    });
}

// Gives work whose event names no device the device of its row.
void name_devices(RankEvents& rank, const Tracks& tracks) {
  for (EventColumns& part : rank.parts)
    for (DeviceSpan& span : part.devices)
      if (span.device < 0) {
        const std::optional<std::int64_t> pid = parse_number(tracks.pid(span.track));
        span.device = pid && *pid <= 0xffff ? static_cast<std::int32_t>(*pid) : 0;
      }
}

// Keeps the selected events and steps of the rank.
void select_events(RankEvents& rank, const RunRequest& request) {
  if (request.time) keep_rows(rank, {request.time->window()});
  rank.steps = find_steps(rank.parts);
  rank.unrecorded = find_unrecorded(rank.parts, rank.steps);
  if (!request.steps) return keep_launching_calls(rank);
  std::vector<StepStart> starts;
  for (const Step& step : rank.steps.list) starts.push_back({step.time.from_ns, step.number});
  std::vector<TimeWindow> windows = request.steps->windows_of(std::move(starts));
  keep_rows(rank, windows);
  keep_launching_calls(rank);
  rank.steps.list.rewrite([&](const Step& step) { return request.steps->contains(step.number); });
}

// Returns the keys without the `most` with the largest sums; ties keep the lower keys.
template <typename Key>
std::set<Key> smallest(const std::map<Key, std::int64_t>& sums, std::size_t most) {
  if (sums.size() <= most) return {};
  std::vector<std::pair<std::int64_t, Key>> order;
  order.reserve(sums.size());
  for (const auto& [key, sum] : sums) order.emplace_back(-sum, key);
  const auto rest = order.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(order.begin(), rest, order.end());
  std::set<Key> keys;
  for (auto one = rest; one != order.end(); ++one) keys.insert(one->second);
  return keys;
}

void fold_devices(RankEvents& rank, std::size_t most) {
  std::map<std::int32_t, std::int64_t> devices;
  rank.for_each_device(
      [&](const DeviceSpan& span) { add_to(devices[span.device], span.end_ns - span.start_ns); });
  const std::set<std::int32_t> other_devices = smallest(devices, most);
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> streams;
  for (EventColumns& part : rank.parts)
    for (DeviceSpan& span : part.devices) {
      if (other_devices.contains(span.device)) span.device = kOtherDevices;
      add_to(streams[{span.device, span.stream}], span.end_ns - span.start_ns);
    }
  // The other devices have a stream, too.
  const auto other_streams = smallest(streams, most + 1);
  for (EventColumns& part : rank.parts)
    for (DeviceSpan& span : part.devices)
      if (other_streams.contains({span.device, span.stream})) span.stream = kNoId;
  rank.others.devices = other_devices.size();
  rank.others.streams = other_streams.size();
}

void drop_counters(RankEvents& rank, std::size_t most) {
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Key, std::int64_t> counters;
  rank.for_each_counter([&](const CounterSample& sample) {
    ++counters[{sample.label, sample.key}];
  });
  const std::set<Key> others = smallest(counters, most);
  rank.others.counters = others.size();
  for (EventColumns& part : rank.parts)
    std::erase_if(part.counters, [&](const CounterSample& sample) {
      return others.contains({sample.label, sample.key});
    });
}

void prepare_rank(RankEvents& rank, const RunRequest& request, const Run& run) {
  name_devices(rank, run.tracks);
  KernelLaunches launches(rank.parts, run.labels);
  if (request.time) launches.select(request.time->window());
  select_events(rank, request);
  rank.lost_work = launches.leave_out_lost(rank.steps, rank.unrecorded);
  if (request.most_kinds > 0) {
    fold_devices(rank, request.most_kinds);
    drop_counters(rank, request.most_kinds);
  }
  rank.kinds = find_kinds(rank.parts);
}

// RankFacts holds what other processes know of a rank whose events are not there.
struct RankFacts {
  std::size_t place = 0;  // index into Run::ranks
  StepList steps;
  Intervals unrecorded;
  EventKinds kinds;
  std::map<std::size_t, std::uint64_t> lost_work;

  auto wired() { return std::tie(place, steps, unrecorded, kinds, lost_work); }
};

void share_facts(Team& team, std::vector<RankEvents>& ranks) {
  if (team.is_alone()) return;
  std::vector<RankFacts> own;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (const RankEvents& rank = ranks[i]; rank.is_here)
      own.push_back({i, rank.steps, rank.unrecorded, rank.kinds, rank.lost_work});
  for (std::vector<RankFacts>& facts : share(team, std::move(own)))
    for (RankFacts& fact : facts) {
      RankEvents& rank = ranks[fact.place];
      rank.steps = std::move(fact.steps);
      rank.unrecorded = std::move(fact.unrecorded);
      rank.kinds = fact.kinds;
      rank.lost_work = std::move(fact.lost_work);
    }
}

// Brings the events of the files together; returns false on a process that has no part in the rest.
bool bring_together(Team& team, bool spread, const FileBlock& own, EventCollector& collector) {
  if (spread)
    share_readings(team, own, collector);
  else
    gather_events(team, own, collector);
  return spread || team.is_first();
}

}  // namespace

EventKinds find_kinds(const std::vector<EventColumns>& parts) {
  EventKinds kinds;
  for (const EventColumns& part : parts) {
    kinds.any |= !part.empty();
    kinds.devices |= !part.devices.empty();
    kinds.frames |= !part.frames.empty();
    for (const MarkedSpan& span : part.marks) kinds.loader |= span.mark == SpanMark::loader;
  }
  return kinds;
}

void for_each_parallel(std::size_t count, unsigned threads,
                       const std::function<void(std::size_t)>& use) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) use(i);
  };
  std::vector<std::future<void>> helpers;
  for (std::size_t i = 1; i < std::min(thread_count(threads), count); ++i)
    helpers.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& helper : helpers) helper.get();
}

Run read_run(const RunRequest& request) {
  EventCollector collector(request.inputs.size(), request.keep_going,
                           {request.details, request.arguments, request.frames, request.python,
                            request.samples, request.shapes, request.arrows});
  if (request.most_kinds > 0) collector.labels().limit(request.most_kinds);
  Team& team = team_or_alone(request.team);
  const FileBlock own = share_out(team, paths_of(request.inputs));
  team.agree([&] {
    scan_inputs(request.inputs, collector,
                {.threads = request.threads, .progress = request.progress, .files = own});
  });
  if (!bring_together(team, request.spread, own, collector)) return {};
  std::vector<CollectedEvents>& files = collector.files();
  const RunInputs capture =
      settle(request.inputs, readings_of(files), {.lists_clashes = request.lists_clashes});
  RankSorter sorter(request, collector.tracks(), capture);
  const std::vector<FileClock>& clocks = capture.clocks.clocks;
  Run run;
  run.threads = request.threads;
  for (std::size_t i = 0; i < files.size(); ++i) {
    run.files.push_back(
        describe_run_file(request.inputs[i].path, files[i], capture.ranks[i], clocks[i]));
    if (!files[i].counts()) {
      files[i].parts.clear();
      continue;
    }
    if (clocks[i].problems.count(Problem::no_clock) > 0) run.common_clock = false;
    run.clock_of_collectives |= goes_by_collectives(files[i].evidence, clocks[i]);
    const TimeMap times = clocks[i].times.since(capture.clocks.origin_ns);
    for (EventColumns& part : files[i].parts) map_times(part, times);
    sorter.take_file(i, capture.ranks[i], files[i].parts);
  }
  run.ranks = sorter.finish();
  if (request.spread) settle_ranks(team, run.ranks);
  run.labels = std::move(collector.labels());
  run.tracks = std::move(collector.tracks());
  run.details = std::move(collector.details());
  for_each_parallel(run.ranks.size(), request.threads, [&](std::size_t i) {
    if (run.ranks[i].is_here) prepare_rank(run.ranks[i], request, run);
  });
  if (request.spread) {
    share_facts(team, run.ranks);
    run.team = request.team;
  }
  for (const RankEvents& rank : run.ranks)
    for (const auto& [file, launches] : rank.lost_work)
      run.files[file].problems.add(Problem::lost_work, 0, launches);
  std::stable_sort(run.files.begin(), run.files.end(), is_reported_before);
  align_runs(run.ranks, run.common_clock);
  return run;
}

}  // namespace traceloom
