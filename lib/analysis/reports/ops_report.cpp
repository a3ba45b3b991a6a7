#include "analysis/numbers.h"
#include "analysis/operators.h"
#include "analysis/reports/reports.h"
#include "analysis/work/work_names.h"
#include "base/arithmetic.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <string_view>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// The parts of a key; a property that does not separate rows is 0.
enum OpPart : std::size_t { kOpRank, kOpThread, kOpType, kOpArguments, kOpName, kOpParts };
using OpKey = GroupKey<kOpParts>;

struct OpGroup {
  TimeStats host = {};
  TimeStats device = {};                 // of operators that gave work to a device themselves
  std::vector<std::int64_t> host_times;  // these two until there are stats
  std::vector<std::int64_t> device_times;
  std::int64_t host_self_ns = 0;
  std::int64_t device_self_ns = 0;
  std::int64_t device_total_ns = 0;
  std::int64_t tensor_self_ns = 0;  // time of kernels that used tensor cores, by their names
  std::int64_t tensor_total_ns = 0;
  std::int64_t kernel_self_ns = 0;  // device times without copies
  std::int64_t kernel_total_ns = 0;
  std::int64_t eligible = 0;  // operators that could use tensor cores

  auto sums() {
    return std::tie(host_self_ns, device_self_ns, device_total_ns, tensor_self_ns, tensor_total_ns,
                    kernel_self_ns, kernel_total_ns, eligible);
  }
  auto wired() { return std::tuple_cat(std::tie(host, device, host_times, device_times), sums()); }

  // For finish_groups().
  void add(OpGroup more) {
    add_values(host_times, std::move(more.host_times));
    add_values(device_times, std::move(more.device_times));
    add_sums(sums(), more.sums());
  }
  void finish() {
    host = time_stats(std::exchange(host_times, {}));
    device = time_stats(std::exchange(device_times, {}));
  }
};

struct OpTotals {
  std::int64_t host_self_ns = 0;
  std::int64_t device_self_ns = 0;
  std::int64_t not_launched_ns = 0;  // device work without a known operator
  std::int64_t kernel_ns = 0;
  std::int64_t eligible_ns = 0;  // time of kernels of operators that could use tensor cores

  auto sums() {
    return std::tie(host_self_ns, device_self_ns, not_launched_ns, kernel_ns, eligible_ns);
  }
};

// The operators of a run, grouped by the properties that separate the rows of the table. Processes
// of a team have the same groups, whichever of them has the events.
class OpGroups {
 public:
  // The run must outlive it.
  OpGroups(const Run& run, const OpsOptions& options)
      : run_(run), options_(options), names_(label_names(run.labels)) {
    if (options.by_shape || options.by_arguments)
      arguments_ = argument_parts(run.details, options.by_arguments);
    if (options.by_thread)
      for (std::uint32_t track = 0; track < run.tracks.size(); ++track)
        threads_.add(run.tracks.tid(track));
    for (std::uint32_t label = 0; label < run.labels.size(); ++label) {
      const bool is_device = run.labels.kind(label).place == EventPlace::device;
      tensor_labels_.push_back(is_device && uses_tensor_cores(run.labels.name(label)) == true);
      eligible_labels_.push_back(!is_device && may_use_tensor_cores(run.labels.name(label)));
    }
    for (const RankEvents& rank : run.ranks)
      if (rank.is_here) add_rank(rank);
    finish_groups(run, groups_);
    add_up(run, totals_);
  }

  const Grouped<OpGroup, kOpParts>& all() const { return groups_; }
  const OpTotals& totals() const { return totals_; }
  std::string_view name(const OpKey& key) const { return names_.text(key[kOpName]); }
  std::string_view thread(const OpKey& key) const { return threads_.text(key[kOpThread]); }
  // A text for find_detail().
  std::string_view arguments(const OpKey& key) const { return arguments_.text(key[kOpArguments]); }

 private:
  // The device work of an operator, in addition to the sums in Operators.
  struct Launched {
    std::int64_t tensor_ns = 0;
    std::int64_t kernel_ns = 0;
    std::int64_t first_ns = 0;
    std::int64_t kernel = TextNumbers::kNothing;  // name of the first kernel
  };

  std::vector<Launched> find_launched(const RankEvents& rank, const Operators& operators) {
    std::vector<Launched> launched(operators.nodes().size());
    rank.for_each_device([&](const DeviceSpan& span) {
      const std::int64_t ns = span.end_ns - span.start_ns;
      const Role role = run_.labels.kind(span.label).role;
      const bool is_kernel = role == Role::kernel || role == Role::communication;
      if (is_kernel) add_to(totals_.kernel_ns, ns);
      const std::uint32_t node = operators.launcher_of(span);
      if (node == kNoOperator) {
        add_to(totals_.not_launched_ns, ns);
        return;
      }
      Launched& found = launched[node];
      if (is_kernel) add_to(found.kernel_ns, ns);
      if (tensor_labels_[span.label]) add_to(found.tensor_ns, ns);
      if (found.kernel != TextNumbers::kNothing && found.first_ns <= span.start_ns) return;
      found.first_ns = span.start_ns;
      found.kernel = names_[span.label];
    });
    return launched;
  }

  // Device work of a repeat is added to the operator that it repeats.
  static void add_repeats(const std::vector<OperatorNode>& nodes, std::vector<Launched>& own) {
    for (std::size_t i = nodes.size(); i-- > 0;) {
      if (!nodes[i].is_repeat) continue;
      Launched& outer = own[nodes[i].parent];
      add_to(outer.kernel_ns, own[i].kernel_ns);
      add_to(outer.tensor_ns, own[i].tensor_ns);
      if (outer.kernel == TextNumbers::kNothing) outer.kernel = own[i].kernel;
      own[i] = {};
    }
  }

  void add_rank(const RankEvents& rank) {
    const Operators operators(run_, rank);
    const std::vector<OperatorNode>& nodes = operators.nodes();
    std::vector<Launched> own = find_launched(rank, operators);
    add_repeats(nodes, own);
    // kernels and tensor cores
    std::vector<std::pair<std::int64_t, std::int64_t>> totals(nodes.size());
    for (std::size_t i = nodes.size(); i-- > 0;) {
      add_to(totals[i].first, own[i].kernel_ns);
      add_to(totals[i].second, own[i].tensor_ns);
      if (nodes[i].parent == kNoOperator) continue;
      totals[nodes[i].parent].first += totals[i].first;
      totals[nodes[i].parent].second += totals[i].second;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].is_repeat) continue;
      OpGroup& group = groups_[key_of(rank, nodes[i], own[i])];
      add_operator(group, nodes[i], own[i]);
      add_to(group.kernel_total_ns, totals[i].first);
      add_to(group.tensor_total_ns, totals[i].second);
    }
  }

  void add_operator(OpGroup& group, const OperatorNode& node, const Launched& own) {
    group.host_times.push_back(node.end_ns - node.start_ns);
    add_to(group.host_self_ns, node.host_self_ns);
    add_to(group.device_total_ns, node.device_total_ns);
    add_to(group.device_self_ns, node.device_self_ns);
    if (own.kernel != TextNumbers::kNothing) group.device_times.push_back(node.device_self_ns);
    add_to(group.kernel_self_ns, own.kernel_ns);
    add_to(group.tensor_self_ns, own.tensor_ns);
    add_to(totals_.host_self_ns, node.host_self_ns);
    add_to(totals_.device_self_ns, node.device_self_ns);
    if (!eligible_labels_[node.label]) return;
    ++group.eligible;
    add_to(totals_.eligible_ns, own.kernel_ns);
  }

  OpKey key_of(const RankEvents& rank, const OperatorNode& node, const Launched& launched) {
    OpKey key{};
    const std::int64_t name = names_[node.label];
    if (options_.by_rank) key[kOpRank] = rank.rank;
    if (options_.by_thread) key[kOpThread] = threads_[node.track];
    if (options_.by_type) {
      std::int64_t& known = types_[{name, launched.kernel}];
      if (known == 0)
        known = 1 + static_cast<std::int64_t>(
                        work_type(names_.text(name), names_.text(launched.kernel)));
      key[kOpType] = known - 1;
    }
    if (options_.by_shape || options_.by_arguments) key[kOpArguments] = arguments_[node.arguments];
    if (options_.by_name) key[kOpName] = name;
    return key;
  }

  const Run& run_;
  OpsOptions options_;
  TextNumbers names_;
  TextNumbers threads_;
  TextNumbers arguments_;
  std::vector<bool> tensor_labels_;    // kernels that use tensor cores
  std::vector<bool> eligible_labels_;  // labels of operators that could use them
  Grouped<std::int64_t, 2> types_;     // keyed by (operator, kernel); value: the type plus one
  Grouped<OpGroup, kOpParts> groups_;
  OpTotals totals_;
};

struct OpRow : OpGroup {
  OpKey key;
  std::string_view arguments;  // for find_detail()
};

ColumnsOf<OpRow> columns_for(const OpsOptions& by, const OpGroups& groups) {
  using enum ColumnKind;
  using enum Readers;
  using Row = OpRow;
  const OpTotals& totals = groups.totals();
  // People do not need columns that are 0 everywhere.
  const auto if_devices = [&](Readers with, Readers without) {
    return totals.device_self_ns > 0 ? with : without;
  };
  return {
      {"rank", "Rank", count, by.by_rank, [](auto& of) { return of.key[kOpRank]; }},
      {"thread", "Thread", text, by.by_thread,
       [&](auto& of) { return text_or_nothing(groups.thread(of.key)); }},
      {"count", "Count", count, path(&Row::host, &TimeStats::count)},
      {"launchers", "Launchers", count, programs, path(&Row::device, &TimeStats::count)},
      {"device_share", "Device %", share, if_devices(all, programs),
       [&](auto& of) { return share_cell(of.device_self_ns, totals.device_self_ns); }},
      {"device_self_ns", "Device self", duration, if_devices(all, programs), &Row::device_self_ns},
      {"device_total_ns", "Device total", duration, if_devices(most, programs),
       &Row::device_total_ns},
      {"device_mean_ns", "Device avg", duration, if_devices(few, programs),
       path(&Row::device, &TimeStats::mean_ns)},
      {"device_p50_ns", "Device med", duration, programs, path(&Row::device, &TimeStats::p50_ns)},
      {"device_p90_ns", "Device P90", duration, programs, path(&Row::device, &TimeStats::p90_ns)},
      {"device_p99_ns", "Device P99", duration, programs, path(&Row::device, &TimeStats::p99_ns)},
      {"device_max_ns", "Device max", duration, programs, path(&Row::device, &TimeStats::max_ns)},
      {"host_share", "Host %", share, if_devices(programs, all),
       [&](auto& of) { return share_cell(of.host_self_ns, totals.host_self_ns); }},
      {"host_self_ns", "Host self", duration, if_devices(most, all), &Row::host_self_ns},
      {"host_total_ns", "Host total", duration, if_devices(some, most),
       path(&Row::host, &TimeStats::total_ns)},
      {"host_mean_ns", "Avg", duration, if_devices(few, most),
       path(&Row::host, &TimeStats::mean_ns)},
      {"host_min_ns", "Min", duration, programs, path(&Row::host, &TimeStats::min_ns)},
      {"host_p50_ns", "Med", duration, some, path(&Row::host, &TimeStats::p50_ns)},
      {"host_p90_ns", "P90", duration, programs, path(&Row::host, &TimeStats::p90_ns)},
      {"host_p99_ns", "P99", duration, few, path(&Row::host, &TimeStats::p99_ns)},
      {"host_max_ns", "Max", duration, if_devices(few, some), path(&Row::host, &TimeStats::max_ns)},
      {"tensor_core_eligible", "TC eligible", count, programs, &Row::eligible},
      {"tensor_core_self_share", "TC self %", share, programs,
       share_of(&Row::tensor_self_ns, &Row::kernel_self_ns)},
      {"tensor_core_total_share", "TC %", share, if_devices(some, programs),
       share_of(&Row::tensor_total_ns, &Row::kernel_total_ns)},
      {"type", "Type", text, by.by_type,
       [](auto& of) { return to_string(static_cast<WorkType>(of.key[kOpType])); }},
      {"shape", "Shape", text, by.by_shape || by.by_arguments,
       [](auto& of) { return text_or_nothing(find_shape(of.arguments)); }},
      {"types", "Types", text, by.by_arguments, detail_of(&Row::arguments, "Input type")},
      {"strides", "Strides", text, by.by_arguments, detail_of(&Row::arguments, "Input Strides")},
      {"inputs", "Inputs", text, by.by_arguments, detail_of(&Row::arguments, "Concrete Inputs")},
      {"name", "Name", text, by.by_name, [&](auto& of) { return groups.name(of.key); }},
  };
}

std::string totals_json(const OpTotals& totals) {
  return json_object("host_self_ns", totals.host_self_ns, "device_self_ns", totals.device_self_ns,
                     "not_launched_ns", totals.not_launched_ns, "tensor_core_eligible_share",
                     ratio(totals.eligible_ns, totals.kernel_ns));
}

void add_notes(Report& report, const OpTotals& totals, bool any) {
  if (!any)
    report.notes.emplace_back("no operators in these traces (category cpu_op)");
  else if (totals.device_self_ns == 0)
    report.notes.emplace_back("no device activity that an operator launched: host times only");
  if (any && totals.device_self_ns > 0 && totals.not_launched_ns > 0)
    report.notes.push_back(format_duration(totals.not_launched_ns) +
                           " of device work was launched by no operator that was recorded");
}

}  // namespace

Report ops_report(const Run& run, const OpsOptions& options) {
  const OpGroups groups(run, options);
  const ColumnsOf<OpRow> columns = columns_for(options, groups);
  Table table = empty_table(columns);
  for (const auto& [key, group] : groups.all())
    add_row(table, columns, {group, key, groups.arguments(key)});
  // The order of groups depends on the files; the order of rows must not.
  table.sort_rows();
  table.sort_by(groups.totals().device_self_ns > 0 ? "device_self_ns" : "host_self_ns");
  Report report("ops", run);
  report.values.emplace_back("totals", totals_json(groups.totals()));
  add_notes(report, groups.totals(), !table.rows().empty());
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

}  // namespace traceloom
