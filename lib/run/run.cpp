#include "run/run.h"

#include "base/arithmetic.h"
#include "identity/capture/capture.h"
#include "run/event_collector.h"
#include "run/impossible_work.h"
#include "team/wire.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <type_traits>
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

// Counts the events at times that the file's clock leaves out.
void count_outliers(const StartTimes& starts, const TimeMap& times, ProblemCounts& problems) {
  starts.count_outliers(problems);
  for (const StartTimes::Range& range : {starts.relative(), starts.unix_time()}) {
    std::int64_t ignored = 0;
    if (!range.empty() && range.events > 0 && !times.map(range.first, ignored))
      problems.add(Problem::outlying_timestamp, 0, range.events);
  }
}

// `rank` and `clock` have no meaning for a file that does not count.
RunFile describe_file(const std::string& path, const CollectedEvents& file, const FileRank& rank,
                      const FileClock& clock) {
  RunFile described{{.path = path, .error = file.error, .is_repeat = file.is_repeat}};
  if (!file.error.empty()) return described;
  described.problems = file.problems;
  if (file.is_repeat) return described;
  if (rank.is_merged())
    described.ranks = rank.ranks();
  else
    described.rank = rank.rank;
  described.problems.add(rank.problems);
  // As a merge counts: metadata says what the others mean.
  described.events = file.listed - file.phases['M'];
  described.text_bytes = file.text_bytes;
  described.clock = clock.method;
  described.offset_ns = clock.offset_ns;
  described.collectives = clock.collectives;
  described.producer = producer_of(file.evidence);
  described.world_size = rank.world_size.value_or(file.evidence.merged_world_size);
  described.devices = file.evidence.devices;
  described.groups = file.evidence.groups;
  described.hosts = file.evidence.hosts;
  if (const auto all = described.hosts.extract(-1); all) {
    if (described.rank) described.hosts[*described.rank] = all.mapped();
    for (const std::int64_t of : described.ranks) described.hosts[of] = all.mapped();
  }
  described.rank_source = to_string(rank.source);
  described.phases = file.phases;
  const CommonTimes times = common_times(file.starts, clock.times);
  if (!file.starts.empty()) {
    described.first_ns = times.first_ns;
    described.span_ns = saturating_subtract(times.last_ns, times.first_ns);
  }
  described.clock_problems = clock.problems;
  count_outliers(file.starts, clock.times, described.problems);
  return described;
}

// Returns false for a time that is on no common time line.
template <typename Row>
bool map_times(Row& row, const TimeMap& times) {
  if constexpr (std::is_base_of_v<HostSpan, Row>) {
    std::int64_t end_ns = 0;
    if (!times.map_end(row.start_ns, row.end_ns, end_ns) || !times.map(row.start_ns, row.start_ns))
      return false;
    row.end_ns = std::max(row.start_ns, end_ns);
    return true;
  } else {
    return times.map(row.start_ns, row.start_ns);
  }
}
bool map_times(UnknownSpans&, const TimeMap&) {
  return true;
}

template <typename Row>
void shift_times(std::vector<Row>& rows, std::int64_t ns) {
  for (Row& row : rows) {
    if constexpr (requires { row.start_ns; }) row.start_ns += ns;
    if constexpr (requires { row.end_ns; }) row.end_ns += ns;
  }
}
template <typename Row>
void shift_times(PackedRows<Row>& rows, std::int64_t ns) {
  rows.shift(ns);
}

// Returns the shift that all times of the file have; nullopt if there is none. Nearly all files
// have one, and then packed rows need not be written again, which took 6 % of a summary.
std::optional<std::int64_t> shift_of(const CollectedEvents& file, const TimeMap& times) {
  if (file.starts.empty() || file.starts.has_outliers()) return std::nullopt;
  CommonTimes range{*file.starts.first_ns(), *file.starts.last_ns()};
  range.add(file.ends.relative);
  range.add(file.ends.unix_time);
  return times.constant_shift(range.first_ns, range.last_ns);
}

void map_times(CollectedEvents& file, const TimeMap& times) {
  const std::optional<std::int64_t> shift_ns = shift_of(file, times);
  for (EventColumns& part : file.parts)
    part.for_each_column([&](auto& rows) {
      if (shift_ns)
        shift_times(rows, *shift_ns);
      else
        rewrite(rows, [&](auto& row) { return map_times(row, times); });
    });
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
    for (auto& [rank, parts] : ranks_) {
      if (!parts.empty()) parts.back().shrink_to_fit();
      RankEvents& events = ranks.emplace_back();
      events.rank = rank;
      events.parts = std::move(parts);
    }
    return ranks;
  }

 private:
  bool is_wanted(std::int64_t rank) const {
    return request_.ranks.empty() || is_in(request_.ranks, rank);
  }

  // A chunk of a merge may have few spans of each of many ranks, so that a part has rows of many
  // chunks: parts of their own took ten times the memory of their rows with 512 ranks.
  void take_merged(const EventColumns& part) {
    std::map<std::int64_t, EventColumns*> open;
    const auto spread = [&](auto column) {
      for (const auto& row : part.*column) {
        const std::int64_t rank = rank_of_track_[row.track];
        if (!is_wanted(rank)) continue;
        EventColumns*& own = open[rank];
        if (own == nullptr) own = &open_part(rank, part.file);
        (own->*column).push_back(row);
      }
    };
    std::apply([&](auto... column) { (spread(column), ...); }, kEventColumns);
  }

  EventColumns& open_part(std::int64_t rank, std::size_t file) {
    constexpr std::size_t kRowsOfAPart = std::size_t{1} << 14;
    std::vector<EventColumns>& parts = ranks_[rank];
    if (parts.empty() || parts.back().file != file || parts.back().rows() >= kRowsOfAPart) {
      if (!parts.empty()) parts.back().shrink_to_fit();
      parts.emplace_back().file = file;
    }
    return parts.back();
  }

  const RunRequest& request_;
  std::vector<std::int64_t> rank_of_track_;
  std::map<std::int64_t, std::vector<EventColumns>> ranks_;
};

template <typename Row>
bool is_in_any(const std::vector<TimeWindow>& windows, const Row& row) {
  return std::ranges::any_of(
      windows, [&](const TimeWindow& window) { return window.contains(row.start_ns); });
}
// What is not understood has no times.
bool is_in_any(const std::vector<TimeWindow>&, const UnknownSpans&) {
  return true;
}

void keep_rows(RankEvents& rank, const std::vector<TimeWindow>& windows) {
  for (EventColumns& part : rank.parts) {
    std::vector<CallSpan> calls = part.calls;
    part.for_each_column([&](auto& rows) {
      rewrite(rows, [&](const auto& row) { return is_in_any(windows, row); });
    });
    std::erase_if(calls, [&](const CallSpan& call) {
      return call.correlation == kNoId || is_in_any(windows, call);
    });
    part.calls_outside.insert(part.calls_outside.end(), calls.begin(), calls.end());
  }
}

// Keeps calls that launched selected work. Without them the first work of a selection would have no
// launch.
void keep_launching_calls(RankEvents& rank) {
  const auto has_none = [](const EventColumns& part) { return part.calls_outside.empty(); };
  if (std::ranges::all_of(rank.parts, has_none)) return;
  std::vector<std::pair<std::size_t, std::int64_t>> launched;
  for (const EventColumns& part : rank.parts)
    for (const DeviceSpan& span : part.devices) launched.emplace_back(part.file, span.correlation);
  std::ranges::sort(launched);
  for (EventColumns& part : rank.parts)
    std::erase_if(part.calls_outside, [&](const CallSpan& call) {
      return !std::ranges::binary_search(launched, std::pair{part.file, call.correlation});
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

// Gives ranks of coarse time lines their stages.
void name_stages(const std::vector<CollectedEvents>& files, const RunInputs& capture,
                 std::vector<RankEvents>& ranks) {
  std::map<std::int64_t, std::int64_t> stages;
  for (std::size_t i = 0; i < files.size(); ++i)
    for (const auto& [place, row] : files[i].evidence.operation_rows.all())
      stages.emplace(capture.ranks[i].rank_of(place.first, place.second), row.stage);
  if (stages.empty()) return;
  for (RankEvents& rank : ranks)
    if (const auto found = stages.find(rank.rank); found != stages.end())
      rank.stage = found->second;
}

void share_facts(Team& team, std::vector<RankEvents>& ranks) {
  if (team.is_alone()) return;
  std::vector<std::pair<std::size_t, RankFacts>> own;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i].is_here) own.emplace_back(i, ranks[i]);
  for (auto& facts : share(team, std::move(own)))
    for (auto& [place, fact] : facts) static_cast<RankFacts&>(ranks[place]) = std::move(fact);
}

}  // namespace

EventKinds find_kinds(const std::vector<EventColumns>& parts) {
  EventKinds kinds;
  for (const EventColumns& part : parts) {
    kinds.any |= !part.empty();
    kinds.devices |= !part.devices.empty();
    kinds.frames |= !part.frames.empty();
    for (const MarkedSpan& span : part.marks) kinds.waits += span.mark == SpanMark::loader;
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

std::vector<std::int64_t> Run::ranks_of_files() const {
  std::set<std::int64_t> found;
  for (const RunFile& file : files) {
    found.insert(file.ranks.begin(), file.ranks.end());
    if (file.rank) found.insert(*file.rank);
  }
  return {found.begin(), found.end()};
}

bool Run::is_coarse() const {
  return std::ranges::any_of(ranks, [](const RankEvents& rank) { return rank.stage >= 0; });
}

const RunFile* Run::file_with_set_clock() const {
  const auto found = std::ranges::find_if(files, [](const RunFile& file) {
    return file.clock_problems.count(Problem::clock_conflict) > 0;
  });
  return found == files.end() ? nullptr : &*found;
}

Run read_run(const RunRequest& request) {
  EventCollector collector(request);
  Team& team = team_or_alone(request.team);
  const FileBlock own = share_out(team, paths_of(request.inputs));
  team.agree([&] {
    scan_inputs(request.inputs, collector,
                {.threads = request.threads, .progress = request.progress, .files = own});
  });
  share_readings(team, own, collector);
  std::vector<CollectedEvents>& files = collector.files();
  const RunInputs capture =
      settle(request.inputs, readings_of(files), {.lists_clashes = request.lists_clashes});
  RankSorter sorter(request, collector.texts().tracks, capture);
  const std::vector<FileClock>& clocks = capture.clocks.clocks;
  Run run;
  run.threads = request.threads;
  run.origin_ns = capture.clocks.origin_ns;
  run.mesh_sizes = request.mesh_sizes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    run.files.push_back(
        describe_file(request.inputs[i].path, files[i], capture.ranks[i], clocks[i]));
    if (!files[i].counts()) {
      files[i].parts.clear();
      continue;
    }
    if (clocks[i].problems.count(Problem::no_clock) > 0) run.common_clock = false;
    run.clock_of_collectives |= goes_by_collectives(files[i].evidence, clocks[i]);
    const TimeMap times = clocks[i].times.since(capture.clocks.origin_ns);
    run.files.back().times = times;
    run.files.back().base_ns = files[i].evidence.base_ns.value_or(0);
    map_times(files[i], times);
    sorter.take_file(i, capture.ranks[i], files[i].parts);
  }
  run.ranks = sorter.finish();
  settle_ranks(team, run.ranks, request.spread);
  if (!request.spread && !team.is_first()) return {};  // it has no part in the rest
  static_cast<RunTexts&>(run) = std::move(collector.texts());
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
  std::ranges::stable_sort(run.files, is_reported_before);
  name_stages(files, capture, run.ranks);
  align_runs(run.ranks, run.common_clock);
  leave_out_startup(run.ranks);
  return run;
}

}  // namespace traceloom
