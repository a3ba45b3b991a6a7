#include "analysis/devices/device_work.h"
#include "analysis/numbers.h"
#include "analysis/operators.h"
#include "analysis/reports/reports.h"
#include "analysis/work/launching_host.h"
#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "output/json_writer.h"
#include "run/event_columns.h"
#include "table/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::int64_t kShortNs = 10'000;

// Returns the time from the first to the last work of each device, for each recording.
std::int64_t devices_ns(const RankEvents& rank) {
  std::map<std::pair<std::int32_t, std::ptrdiff_t>, Interval> devices;
  rank.for_each_device([&](const DeviceSpan& span) {
    const auto later =
        std::ranges::upper_bound(rank.unrecorded, span.start_ns, {}, &Interval::to_ns);
    const std::ptrdiff_t recording = later - rank.unrecorded.begin();
    const auto [found, is_new] = devices.try_emplace({span.device, recording}, span.interval());
    if (is_new) return;
    found->second.from_ns = std::min(found->second.from_ns, span.start_ns);
    found->second.to_ns = std::max(found->second.to_ns, span.end_ns);
  });
  std::int64_t sum = 0;
  for (const auto& [device, time] : devices) add_to(sum, time.to_ns - time.from_ns);
  return sum;
}

// The parts of a key; a property that does not separate rows is 0.
enum KernelPart : std::size_t {
  kKernelRank,
  kKernelDevice,
  kKernelStream,
  kKernelType,
  kKernelLaunch,
  kKernelArguments,
  kKernelOperator,
  kKernelName,
  kKernelParts,
};
using KernelKey = GroupKey<kKernelParts>;

struct KernelSums {
  std::int64_t short_count = 0;  // kernels that take less than 10 us
  std::int64_t short_ns = 0;
  std::int64_t tensor_ns = 0;  // time of kernels that use tensor cores, by their names
  std::int64_t told_ns = 0;    // time of kernels whose names show whether they use tensor cores

  auto sums() { return std::tie(short_count, short_ns, tensor_ns, told_ns); }
};

struct KernelGroup : KernelSums {
  TimeStats stats = {};
  std::vector<std::int64_t> times;  // of the kernels, until there are stats
  WeightedMean blocks;
  WeightedMean occupancy;
  // The host's names of the collectives that launched kernels with ambiguous names
  // ("nccl:all_to_all" for SendRecv).
  std::set<std::string> collectives;

  auto wired() {
    return std::tuple_cat(std::tie(stats, times, blocks, occupancy, collectives), sums());
  }

  // For finish_groups().
  void add(KernelGroup more) {
    add_values(times, std::move(more.times));
    blocks.add(more.blocks);
    occupancy.add(more.occupancy);
    collectives.merge(more.collectives);
    add_sums(sums(), more.sums());
  }
  void finish() { stats = time_stats(std::exchange(times, {})); }
};

struct KernelTotals : KernelSums {
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t eligible_ns = 0;      // launched by an operator that could use tensor cores
  std::int64_t not_launched_ns = 0;  // time of kernels without a known operator
  std::int64_t devices_ns = 0;       // first to last work of each device, for each recording
  bool any_measured = false;         // any kernel has its blocks or its occupancy
  bool any_collective = false;       // any group has collectives

  auto sums() {
    return std::tuple_cat(KernelSums::sums(),
                          std::tie(count, total_ns, eligible_ns, not_launched_ns, devices_ns,
                                   any_measured, any_collective));
  }
};

// The kernels of a run, grouped by the properties that separate the rows of the table. Processes of
// a team have the same groups, whichever of them has the events.
class KernelGroups {
 public:
  // The run must outlive it.
  KernelGroups(const Run& run, const KernelsOptions& options)
      : run_(run), options_(options), names_(label_names(run.labels)) {
    if (options.by_launch)
      launches_ =
          detail_parts(run.details, {"grid", "block", "registers per thread", "shared memory"});
    if (options.by_shape || options.by_arguments)
      arguments_ = argument_parts(run.details, options.by_arguments);
    for (std::uint32_t label = 0; label < run.labels.size(); ++label) {
      const bool is_device = run.labels.kind(label).place == EventPlace::device;
      tensor_.push_back(is_device ? uses_tensor_cores(run.labels.name(label)) : std::nullopt);
      eligible_.push_back(!is_device && may_use_tensor_cores(run.labels.name(label)));
    }
    for (const RankEvents& rank : run.ranks)
      if (rank.is_here) add_rank(rank);
    finish_groups(run, groups_);
    add_up(run, totals_);
  }

  const Grouped<KernelGroup, kKernelParts>& all() const { return groups_; }
  const KernelTotals& totals() const { return totals_; }

  std::string_view name(const KernelKey& key) const { return names_.text(key[kKernelName]); }
  std::string_view op(const KernelKey& key) const { return names_.text(key[kKernelOperator]); }
  // Texts for find_detail().
  std::string_view launch(const KernelKey& key) const { return launches_.text(key[kKernelLaunch]); }
  std::string_view arguments(const KernelKey& key) const {
    return arguments_.text(key[kKernelArguments]);
  }

 private:
  void add_rank(const RankEvents& rank) {
    add_to(totals_.devices_ns, devices_ns(rank));
    const Operators operators(run_, rank);
    rank.for_each_device([&](const DeviceSpan& span) {
      const Role role = run_.labels.kind(span.label).role;
      if (role != Role::kernel && role != Role::communication) return;
      const std::uint32_t node = operators.launcher_of(span);
      add_kernel(rank, span, node == kNoOperator ? nullptr : &operators.nodes()[node]);
    });
    name_collectives(rank, operators);
  }

  void name_collectives(const RankEvents& rank, const Operators& operators) {
    const auto is_nameless = [&](const DeviceSpan& span) {
      return run_.labels.kind(span.label).role == Role::communication &&
             !says_what_it_does(kernel_name(run_.labels.name(span.label)));
    };
    bool any = false;
    rank.for_each_device([&](const DeviceSpan& span) { any = any || is_nameless(span); });
    if (!any) return;
    const LaunchingRanges ranges(run_, rank);
    for (const EventColumns& part : rank.own_parts())
      for (const DeviceSpan& span : part.devices) {
        if (!is_nameless(span)) continue;
        const LaunchedBy by = ranges.find(part, span);
        const LaunchingRange* const named = by.range != nullptr ? by.range : by.op;
        if (named == nullptr) continue;
        const std::uint32_t node = operators.launcher_of(span);
        const OperatorNode* const launcher =
            node == kNoOperator ? nullptr : &operators.nodes()[node];
        groups_[key_of(rank, span, launcher)].collectives.emplace(
            run_.labels.name(named->span.label));
        totals_.any_collective = true;
      }
  }

  void add_kernel(const RankEvents& rank, const DeviceSpan& span, const OperatorNode* launcher) {
    const std::int64_t ns = span.end_ns - span.start_ns;
    KernelGroup& group = groups_[key_of(rank, span, launcher)];
    group.times.push_back(ns);
    ++totals_.count;
    add_to(totals_.total_ns, ns);
    const std::optional<bool> tensor_cores = tensor_[span.label];
    const bool is_short = ns < kShortNs;
    KernelSums own{.short_count = is_short ? 1 : 0,
                   .short_ns = is_short ? ns : 0,
                   .tensor_ns = tensor_cores.value_or(false) ? ns : 0,
                   .told_ns = tensor_cores ? ns : 0};
    add_sums(group.sums(), own.sums());
    add_sums(totals_.KernelSums::sums(), own.sums());
    if (launcher == nullptr)
      add_to(totals_.not_launched_ns, ns);
    else if (eligible_[launcher->label])
      add_to(totals_.eligible_ns, ns);
    if (span.detail == kNoDetail) return;
    const std::string_view details = run_.details[span.detail];
    if (const auto blocks = find_number(details, "blocks per SM")) group.blocks.add(*blocks, ns);
    if (const auto percent = find_number(details, "est. achieved occupancy %"))
      group.occupancy.add(*percent, ns);
    totals_.any_measured |= !group.blocks.empty() || !group.occupancy.empty();
  }

  KernelKey key_of(const RankEvents& rank, const DeviceSpan& span, const OperatorNode* launcher) {
    KernelKey key{};
    const std::int64_t name = names_[span.label];
    const std::int64_t op = launcher == nullptr ? TextNumbers::kNothing : names_[launcher->label];
    if (options_.by_rank) key[kKernelRank] = rank.rank;
    if (options_.by_stream) {
      key[kKernelDevice] = span.device;
      key[kKernelStream] = span.stream;
    }
    if (options_.by_type) key[kKernelType] = type_of(op, name);
    if (options_.by_launch) key[kKernelLaunch] = launches_[span.detail];
    if (options_.by_shape || options_.by_arguments)
      key[kKernelArguments] =
          launcher == nullptr ? TextNumbers::kNothing : arguments_[launcher->arguments];
    if (options_.by_operator) key[kKernelOperator] = op;
    if (options_.by_name) key[kKernelName] = name;
    return key;
  }

  std::int64_t type_of(std::int64_t op, std::int64_t kernel) {
    std::int64_t& known = types_[{op, kernel}];
    if (known == 0)
      known = 1 + static_cast<std::int64_t>(work_type(names_.text(op), names_.text(kernel)));
    return known - 1;
  }

  const Run& run_;
  KernelsOptions options_;
  TextNumbers names_;
  TextNumbers launches_;
  TextNumbers arguments_;
  Grouped<std::int64_t, 2> types_;           // by (operator, kernel): the type plus one
  std::vector<std::optional<bool>> tensor_;  // labels of kernels that use tensor cores
  std::vector<bool> eligible_;               // labels of operators that could use them
  Grouped<KernelGroup, kKernelParts> groups_;
  KernelTotals totals_;
};

struct KernelRow : KernelGroup {
  KernelKey key;
  std::string_view launch;  // these two for find_detail()
  std::string_view arguments;
};

Cell mean_or_nothing(const WeightedMean& mean) {
  return mean.empty() ? Cell{} : Cell{mean.value()};
}

ColumnsOf<KernelRow> columns_for(const KernelsOptions& by, const KernelGroups& groups) {
  using enum ColumnKind;
  using enum Readers;
  using Row = KernelRow;
  const KernelTotals& totals = groups.totals();
  // People do not need a column without any number: AMD's traces have no occupancy.
  const Readers measured = totals.any_measured ? few : programs;
  return {
      {"rank", "Rank", count, by.by_rank, [](auto& of) { return of.key[kKernelRank]; }},
      {"device", "Device", count, by.by_stream, [](auto& of) { return of.key[kKernelDevice]; }},
      {"stream", "Stream", count, by.by_stream,
       [](auto& of) { return cell_if(of.key[kKernelStream] >= 0, of.key[kKernelStream]); }},
      {"share", "Time %", share,
       [&](auto& of) { return ratio(of.stats.total_ns, totals.total_ns); }},
      {"total_ns", "Total", duration, path(&Row::stats, &TimeStats::total_ns)},
      {"count", "Count", count, path(&Row::stats, &TimeStats::count)},
      {"mean_ns", "Avg", duration, most, path(&Row::stats, &TimeStats::mean_ns)},
      {"min_ns", "Min", duration, few, path(&Row::stats, &TimeStats::min_ns)},
      {"p50_ns", "Med", duration, some, path(&Row::stats, &TimeStats::p50_ns)},
      {"p90_ns", "P90", duration, few, path(&Row::stats, &TimeStats::p90_ns)},
      {"p99_ns", "P99", duration, some, path(&Row::stats, &TimeStats::p99_ns)},
      {"max_ns", "Max", duration, most, path(&Row::stats, &TimeStats::max_ns)},
      {"stddev_ns", "StdDev", duration, few, path(&Row::stats, &TimeStats::stddev_ns)},
      {"gpu_share", "GPU %", share, programs,
       [&](auto& of) { return share_cell(of.stats.total_ns, totals.devices_ns); }},
      {"short_count", "Short", count, programs, &Row::short_count},
      {"short_ns", "Short time", duration, programs, &Row::short_ns},
      {"blocks_per_sm", "Blocks/SM", number, measured,
       [](auto& of) { return mean_or_nothing(of.blocks); }},
      {"occupancy", "Occup. %", number, measured,
       [](auto& of) { return mean_or_nothing(of.occupancy); }},
      {"tensor_core_share", "TC %", share, some, share_of(&Row::tensor_ns, &Row::told_ns)},
      {"type", "Type", text, by.by_type,
       [](auto& of) { return to_string(static_cast<WorkType>(of.key[kKernelType])); }},
      {"grid", "Grid", text, by.by_launch, detail_of(&Row::launch, "grid")},
      {"block", "Block", text, by.by_launch, detail_of(&Row::launch, "block")},
      {"registers", "Regs", count, most, by.by_launch,
       [](auto& of) { return find_integer(of.launch, "registers per thread"); }},
      {"shared_memory", "Shared", count, most, by.by_launch,
       [](auto& of) { return find_integer(of.launch, "shared memory"); }},
      {"shape", "Shape", text, by.by_shape || by.by_arguments,
       [](auto& of) { return text_or_nothing(find_shape(of.arguments)); }},
      {"types", "Types", text, by.by_arguments, detail_of(&Row::arguments, "Input type")},
      {"strides", "Strides", text, by.by_arguments, detail_of(&Row::arguments, "Input Strides")},
      {"inputs", "Inputs", text, by.by_arguments, detail_of(&Row::arguments, "Concrete Inputs")},
      {"op", "Operator", text, by.by_operator,
       [&](auto& of) { return text_or_nothing(groups.op(of.key)); }},
      {"collective", "Collective", text, totals.any_collective,
       [](auto& of) {
         return text_or_nothing(fmt::format("{}", fmt::join(of.collectives, ", ")));
       }},
      {"name", "Name", text, by.by_name, [&](auto& of) { return groups.name(of.key); }},
  };
}

std::string totals_json(const KernelTotals& totals) {
  return json_object([&](JsonWriter& json) {
    json.member("kernels", totals.count);
    json.member("total_ns", totals.total_ns);
    json.member("short_share", ratio(totals.short_count, totals.count));
    json.member("short_time_share", ratio(totals.short_ns, totals.total_ns));
    json.member("tensor_core_share", totals.told_ns > 0
                                         ? std::optional(ratio(totals.tensor_ns, totals.total_ns))
                                         : std::nullopt);
    json.member("tensor_core_unknown_share",
                ratio(totals.total_ns - totals.told_ns, totals.total_ns));
    json.member("tensor_core_eligible_share", ratio(totals.eligible_ns, totals.total_ns));
    json.member("not_launched_ns", totals.not_launched_ns);
  });
}

}  // namespace

Report kernels_report(const Run& run, const KernelsOptions& options) {
  const KernelGroups groups(run, options);
  const ColumnsOf<KernelRow> columns = columns_for(options, groups);
  Table table = empty_table(columns);
  for (const auto& [key, group] : groups.all())
    add_row(table, columns, {group, key, groups.launch(key), groups.arguments(key)});
  // The order of groups depends on the files; the order of rows must not.
  table.sort_rows();
  table.sort_by("total_ns");
  Report report("kernels", run);
  report.values.emplace_back("totals", totals_json(groups.totals()));
  if (table.rows().empty()) note_no_devices(run, report, "no kernels to show");
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
