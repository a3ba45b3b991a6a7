#include "comparison/captures/capture.h"

#include "analysis/collectives/collectives.h"
#include "analysis/memory/device_memory.h"
#include "analysis/operators.h"
#include "analysis/work/launching_host.h"
#include "base/string_table.h"
#include "comparison/judge/judge.h"
#include "per_rank/per_rank.h"
#include "run/event_columns.h"
#include "run/intervals.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <type_traits>

namespace traceloom {
namespace {

// TransferTimes: how long data moved in each collective of a run; before that, its ranks waited for
// the last one.
class TransferTimes {
 public:
  explicit TransferTimes(const Run& run) : ranks_(run.ranks.size()) {
    for (const Collective& one : match_collectives(run).matched) {
      if (one.is_launch_only || !one.all_wait_for_all()) continue;
      const std::int64_t transfer_ns = one.latency_ns();
      for (const CollectivePart& part : one.parts)
        ranks_[part.rank].emplace_back(part.start_ns, part.end_ns, transfer_ns);
    }
    for (auto& rank : ranks_) std::sort(rank.begin(), rank.end());
  }

  // `rank` is an index into Run::ranks. Returns nullopt if the time is not that of a collective
  // that was found on other ranks, too. The result is the time of the rank on which the collective
  // took least, since all ranks leave it together.
  std::optional<std::int64_t> of(std::size_t rank, const Interval& time) const {
    const auto place = std::lower_bound(
        ranks_[rank].begin(), ranks_[rank].end(),
        std::tuple(time.from_ns, time.to_ns, std::numeric_limits<std::int64_t>::min()));
    if (place == ranks_[rank].end() || std::get<0>(*place) != time.from_ns ||
        std::get<1>(*place) != time.to_ns)
      return std::nullopt;
    return std::get<2>(*place);
  }

 private:
  // Start, end and transfer of each rank's collectives, ascending.
  std::vector<std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>>> ranks_;
};

// What is known of the rank whose time is split.
struct RowSources {
  const Run& run;
  std::size_t rank;  // index into Run::ranks
  const Operators& operators;
  const LaunchModules& modules;
  const TransferTimes& transfers;

  const RankEvents& events() const { return run.ranks[rank]; }
};

// The parts of a collective.
enum class Part : std::uint32_t { whole, wait, transfer };

std::string_view suffix_of(Part part) {
  if (part == Part::whole) return "";
  return part == Part::wait ? kWaitSuffix : kTransferSuffix;
}

// RowLabels identify a row before it gets its names: they are the labels of its operator and of its
// events.
struct RowLabels {
  std::uint32_t role;
  std::uint32_t op;
  std::uint32_t label;
  std::uint32_t module;
  Part part = Part::whole;

  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof *this}; }
};
static_assert(std::has_unique_object_representations_v<RowLabels>);

// An event, or a part of one, with the number of its row.
struct RoleSpan {
  Interval time;
  std::uint32_t row;
};

struct RowSums {
  std::int64_t exclusive_ns = 0;
  std::int64_t total_ns = 0;
  std::int64_t count = 0;

  bool empty() const { return exclusive_ns == 0 && total_ns == 0 && count == 0; }
};

std::uint32_t operator_label(const Operators& operators, const DeviceSpan& span) {
  const std::uint32_t launcher = operators.launcher_of(span);
  return launcher == kNoOperator ? kNoLabel : operators.nodes()[launcher].label;
}

std::string_view name_of(const Run& run, std::uint32_t label) {
  return label == kNoLabel ? "" : run.labels.name(label);
}

// Collects the spans of each role that have an instant in the windows, and numbers their rows.
class RoleSpans {
 public:
  RoleSpans(const RowSources& sources, const Interval& around) : sources_(sources) {
    const bool has_devices = sources.events().has_devices();
    const auto is_around = [&](const HostSpan& span) {
      return span.end_ns >= around.from_ns && span.start_ns < around.to_ns;
    };
    for_each_role_span(
        sources.run, sources.events(),
        [&](Role role, const HostSpan& span) {
          const bool is_work = role == Role::cpu && !has_devices;
          if (role != Role::other && is_around(span))
            add_span(role, span.interval(), kNoLabel, span.label,
                     is_work ? sources.modules.around(span) : kNoModule);
        },
        [&](Role role, const DeviceSpan& span) {
          if (is_around(span))
            add_span(role, span.interval(), operator_label(sources.operators, span), span.label,
                     sources.modules.of_launch(span));
        });
    sort();
  }

  const std::vector<RoleSpan>& of(std::size_t role) const { return spans_[role]; }
  const std::vector<RowLabels>& rows() const { return rows_; }
  bool is_wait(const RoleSpan& span) const { return rows_[span.row].part == Part::wait; }

 private:
  void sort() {
    // The longest of the events that begin together comes first; names make the order of the rest
    // the same for any order of the files.
    const auto earlier = [&](const RoleSpan& a, const RoleSpan& b) {
      if (a.time.from_ns != b.time.from_ns) return a.time.from_ns < b.time.from_ns;
      if (a.time.to_ns != b.time.to_ns) return a.time.to_ns > b.time.to_ns;
      if (a.row == b.row) return false;
      const RowLabels& one = rows_[a.row];
      const RowLabels& other = rows_[b.row];
      return one.part != other.part ? one.part < other.part : names(one) < names(other);
    };
    for (std::vector<RoleSpan>& spans : spans_)
      if (!std::is_sorted(spans.begin(), spans.end(), earlier))
        // Several runs in order, of streams and threads: merging takes less than std::sort.
        std::stable_sort(spans.begin(), spans.end(), earlier);
  }

  std::tuple<std::string_view, std::string_view, std::string_view> names(
      const RowLabels& row) const {
    return {name_of(sources_.run, row.label), name_of(sources_.run, row.op),
            sources_.modules.name(row.module)};
  }

  void add_span(Role role, Interval time, std::uint32_t op, std::uint32_t label,
                std::uint32_t module) {
    std::vector<RoleSpan>& spans = spans_[static_cast<std::size_t>(role)];
    RowLabels row{static_cast<std::uint32_t>(role), op, label, module};
    const std::optional<std::int64_t> transfer_ns =
        role == Role::communication ? sources_.transfers.of(sources_.rank, time) : std::nullopt;
    if (transfer_ns) {
      const std::int64_t arrived_ns = time.to_ns - *transfer_ns;
      row.part = Part::wait;
      if (arrived_ns > time.from_ns) spans.push_back({{time.from_ns, arrived_ns}, number_of(row)});
      time.from_ns = arrived_ns;
      row.part = Part::transfer;
    }
    spans.push_back({time, number_of(row)});
  }

  std::uint32_t number_of(const RowLabels& row) {
    const std::uint32_t number = numbers_.intern(row.bytes());
    if (number == rows_.size()) rows_.push_back(row);
    return number;
  }

  const RowSources& sources_;
  StringTable numbers_;
  std::vector<RowLabels> rows_;  // by number
  std::array<std::vector<RoleSpan>, kRoleCount> spans_;
};

// Adds the events of a role to the window in which they begin.
void count_events(const RoleSpans& all, std::size_t role, const Intervals& windows,
                  std::vector<RowSums>& sums) {
  auto window = windows.begin();
  for (const RoleSpan& span : all.of(role)) {
    while (window != windows.end() && window->to_ns <= span.time.from_ns) ++window;
    if (window == windows.end()) return;
    if (span.time.from_ns < window->from_ns) continue;
    RowSums& sum = sums[span.row];
    add_to(sum.total_ns, length_ns(span.time));
    if (!all.is_wait(span)) ++sum.count;
  }
}

// Gives each instant of `free` to the event that began first. Returns the instants that some event
// has.
Intervals share_out(const std::vector<RoleSpan>& spans, const Intervals& free,
                    std::vector<RowSums>& sums) {
  IntervalLengths lengths(free);
  Intervals taken;
  std::int64_t done_ns = std::numeric_limits<std::int64_t>::min();
  for (const RoleSpan& span : spans) {
    const Interval rest{std::max(span.time.from_ns, done_ns), span.time.to_ns};
    if (rest.to_ns <= rest.from_ns) continue;
    done_ns = rest.to_ns;
    taken.push_back(rest);
    if (const std::int64_t ns = lengths.in(rest); ns > 0) add_to(sums[span.row].exclusive_ns, ns);
  }
  return unite(std::move(taken));
}

RowKey key_of(const RowSources& sources, const RowLabels& row) {
  return {static_cast<Role>(row.role), std::string(name_of(sources.run, row.op)),
          std::string(name_of(sources.run, row.label)).append(suffix_of(row.part)),
          std::string(sources.modules.name(row.module))};
}

// Returns the key of the row to which work of a device belongs, if it is no part of a collective.
RowKey device_key(const RowSources& sources, Role role, const DeviceSpan& span) {
  return key_of(sources, {static_cast<std::uint32_t>(role), operator_label(sources.operators, span),
                          span.label, sources.modules.of_launch(span)});
}

// Splits the time of some steps of a rank into rows. `windows` are the times of the steps:
// ascending, and they do not overlap. Returns rows ascending by key, whose exclusive times add up
// to the length of the windows.
std::vector<CaptureRow> find_row_times(const RowSources& sources, const Intervals& windows) {
  if (windows.empty()) return {};
  const RoleSpans spans(sources, {windows.front().from_ns, windows.back().to_ns});
  std::vector<RowSums> sums(spans.rows().size());
  Intervals free = unite(windows);
  for (std::size_t role = 0; role < kRoleCount; ++role) {
    count_events(spans, role, windows, sums);
    free = subtract(free, share_out(spans.of(role), free, sums));
  }
  // Labels with one name and several categories are one row.
  std::map<RowKey, CaptureRow> rows;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].empty()) continue;
    CaptureRow& row = rows[key_of(sources, spans.rows()[i])];
    add_to(row.exclusive_ns, sums[i].exclusive_ns);
    add_to(row.total_ns, sums[i].total_ns);
    row.count += sums[i].count;
  }
  rows[{Role::other, "", ""}].exclusive_ns = total_ns(free);
  std::vector<CaptureRow> list;
  list.reserve(rows.size());
  for (const auto& [key, row] : rows)
    list.push_back({shared_key(key), row.exclusive_ns, row.total_ns, row.count});
  return list;
}

// The steps of which rows are made.
struct ChosenSteps {
  std::optional<std::uint32_t> content;
  std::vector<StepKey> keys;  // ascending
};

// Returns the middle ones of the steps at these places. Of a capture with too few steps, all.
ChosenSteps choose_steps(const std::vector<StepLength>& steps,
                         const std::vector<std::size_t>& places,
                         std::optional<std::uint32_t> content) {
  std::vector<std::int64_t> lengths;
  for (const std::size_t place : places) lengths.push_back(steps[place].second);
  std::vector<std::size_t> middle = middle_steps(lengths);
  if (steps.size() < kLeastSteps + 1) {
    middle.resize(places.size());
    std::iota(middle.begin(), middle.end(), std::size_t{0});
  }
  ChosenSteps chosen{content, {}};
  for (const std::size_t one : middle) chosen.keys.push_back(steps[places[one]].first);
  std::sort(chosen.keys.begin(), chosen.keys.end());
  return chosen;
}

// Chooses among all steps but the first, or the only one, and among those of each content.
std::vector<ChosenSteps> chosen_steps(const std::vector<StepLength>& steps,
                                      const StepContents& contents) {
  std::vector<std::size_t> all(steps.size() < 2 ? steps.size() : steps.size() - 1);
  std::iota(all.begin(), all.end(), steps.size() - all.size());
  std::vector<ChosenSteps> chosen{choose_steps(steps, all, std::nullopt)};
  for (std::uint32_t content = 0; contents.count() > 1 && content < contents.count(); ++content) {
    std::vector<std::size_t> places;
    std::ranges::copy_if(all, std::back_inserter(places),
                         [&](std::size_t place) { return contents.of_step[place] == content; });
    chosen.push_back(choose_steps(steps, places, content));
  }
  return chosen;
}

std::vector<std::uint32_t> find_sequence(const RowSources& sources, const Interval& window,
                                         const std::vector<CaptureRow>& rows) {
  using Place = std::pair<std::int64_t, std::uint32_t>;  // start, row
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Place>> streams;
  for_each_device_role(
      sources.run, sources.events(), [&](Role role, const EventColumns&, const DeviceSpan& span) {
        if (role != Role::kernel || span.start_ns < window.from_ns || span.start_ns >= window.to_ns)
          return;
        const RowKey key = device_key(sources, role, span);
        const auto row = std::ranges::lower_bound(
            rows, key, {}, [](const CaptureRow& one) -> const RowKey& { return *one.key; });
        if (row != rows.end() && *row->key == key)
          streams[{span.device, span.stream}].emplace_back(
              span.start_ns, static_cast<std::uint32_t>(row - rows.begin()));
      });
  std::vector<Place> longest;
  for (auto& [stream, places] : streams)
    if (places.size() > longest.size()) longest = std::move(places);
  std::sort(longest.begin(), longest.end());
  std::vector<std::uint32_t> sequence;
  sequence.reserve(longest.size());
  for (const auto& [start_ns, row] : longest) sequence.push_back(row);
  return sequence;
}

using ShapeTimes = std::map<std::pair<std::string, std::string>, std::int64_t>;

void add_shapes(const Run& run, const Operators& operators, ShapeTimes& times) {
  for (const OperatorNode& node : operators.nodes()) {
    if (node.arguments == kNoDetail || node.device_self_ns <= 0) continue;
    const std::string_view shapes = find_detail(run.details[node.arguments], kShapes);
    if (!shapes.empty())
      add_to(times[{std::string(run.labels.name(node.label)), std::string(shapes)}],
             node.device_self_ns);
  }
}

// RankPart holds what one rank gives to a capture.
struct RankPart {
  std::vector<CaptureRank> ranks;
  ShapeTimes shapes;
};

CaptureRank split_time(const RowSources& sources, const RankRoles& roles,
                       const ChosenSteps& chosen) {
  CaptureRank rank;
  rank.rank = sources.events().rank;
  rank.content = chosen.content;
  Intervals windows;
  for (const auto& [key, time] : times_of(roles, chosen.keys)) windows.push_back(time);
  std::ranges::sort(windows, {}, &Interval::from_ns);
  rank.steps = windows.size();
  if (windows.empty()) return rank;
  rank.rows = find_row_times(sources, windows);
  for (const Interval& window : windows) add_to(rank.total_ns, length_ns(window));
  rank.sequence = find_sequence(sources, windows.front(), rank.rows);
  return rank;
}

RankPart find_part(const Run& run, std::size_t index, const TransferTimes& transfers,
                   const RankRoles& roles, const std::vector<ChosenSteps>& chosen) {
  const RankEvents& rank = run.ranks[index];
  RankPart part;
  const Operators operators(run, rank);
  add_shapes(run, operators, part.shapes);
  const LaunchModules modules(run, rank, operators);
  const RowSources sources{run, index, operators, modules, transfers};
  for (const ChosenSteps& steps : chosen) part.ranks.push_back(split_time(sources, roles, steps));
  return part;
}

std::optional<std::int64_t> find_peak(const Run& run) {
  constexpr std::int32_t kHost = 0;
  struct Peaks {
    std::optional<std::int64_t> of_devices;
    std::optional<std::int64_t> of_host;

    void add(bool is_host, std::int64_t bytes) {
      std::optional<std::int64_t>& most = is_host ? of_host : of_devices;
      most = std::max(most.value_or(0), bytes);
    }
  };
  const auto find = [&](std::size_t rank) {
    Peaks peaks;
    for (const DeviceMemory& memory : find_device_memory(run, run.ranks[rank]))
      peaks.add(memory.type == kHost, memory.peak().allocated);
    return peaks;
  };
  Peaks all;
  for (const Peaks& peaks : per_rank<Peaks>(run, find)) {
    if (peaks.of_devices) all.add(false, *peaks.of_devices);
    if (peaks.of_host) all.add(true, *peaks.of_host);
  }
  return all.of_devices ? all.of_devices : all.of_host;
}

}  // namespace

std::vector<std::int64_t> ranks_in(const Capture& capture) {
  std::vector<std::int64_t> ranks;
  for (const CaptureRank& rank : capture.ranks)
    if (ranks.empty() || ranks.back() != rank.rank) ranks.push_back(rank.rank);
  return ranks;
}

std::vector<double> values_of(const std::vector<Capture>& captures) {
  std::vector<double> values;
  for (const Capture& capture : captures)
    if (capture.value_ns) values.push_back(*capture.value_ns);
  return values;
}

const Capture* median_capture(const std::vector<Capture>& captures) {
  std::vector<const Capture*> order;
  for (const Capture& capture : captures)
    if (capture.value_ns) order.push_back(&capture);
  if (order.empty()) return captures.empty() ? nullptr : &captures.front();
  std::ranges::stable_sort(order, {}, [](const Capture* one) { return *one->value_ns; });
  return order[(order.size() - 1) / 2];
}

namespace {

// Puts the start-up step, which is left out of means where it is long, in front again: a comparison
// leaves out the first step of each capture, and uses the same ones of all.
std::vector<StepLength> with_startup(const Run& run, const std::vector<RankRoles>& roles,
                                     std::vector<StepLength> steps) {
  std::optional<StepLength> first;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (run.ranks[i].steps.startup == 0 || roles[i].steps.begin() == roles[i].steps.end()) continue;
    const StepRoles step = *roles[i].steps.begin();
    if (!step.step.counted && (!first || step.total_ns > first->second))
      first = {key_of(step.step), step.total_ns};
  }
  if (first && !steps.empty() && first->first < steps.front().first)
    steps.insert(steps.begin(), *first);
  return steps;
}

}  // namespace

Capture make_capture(const Run& run, const std::string& name) {
  Capture capture;
  capture.name = name;
  for (const RunFile& file : run.files) {
    capture.world_size = std::max(capture.world_size, file.world_size);
    capture.devices.insert(file.devices.begin(), file.devices.end());
    // A merge has the producers of its inputs.
    if (file.producer == kRecorderProducer ||
        (!file.producer.empty() && !file.producer.starts_with("traceloom")))
      capture.producers.insert(file.producer);
  }
  capture.peak_bytes = find_peak(run);
  const std::vector<RankRoles> roles = find_main_roles(run);
  const std::vector<StepLength> steps = with_startup(run, roles, longest_steps(roles));
  capture.steps_ns = lengths_ns(steps);
  capture.value_ns = capture_value(capture.steps_ns);
  if (capture.value_ns) {
    std::vector<StepKey> keys;
    for (const StepLength& step : steps) keys.push_back(step.first);
    capture.contents = find_contents(run, roles, keys);
  }
  const std::vector<ChosenSteps> chosen = chosen_steps(steps, capture.contents);
  const TransferTimes transfers(run);
  std::vector<RankPart> parts = per_rank<RankPart>(
      run, [&](std::size_t rank) { return find_part(run, rank, transfers, roles[rank], chosen); });
  ShapeTimes shapes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    capture.has_python |= run.ranks[i].has_frames();
    for (const auto& [shape, ns] : parts[i].shapes) add_to(shapes[shape], ns);
    for (CaptureRank& rank : parts[i].ranks) capture.ranks.push_back(std::move(rank));
  }
  for (const auto& [shape, ns] : shapes) capture.shapes.push_back({shape.first, shape.second, ns});
  return capture;
}

}  // namespace traceloom
