// The kernels of a run, grouped by their properties.
#pragma once

#include "analysis/numbers.h"
#include "analysis/operators.h"
#include "run/event_columns.h"
#include "run/run.h"
#include "table/columns.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// The properties that separate the rows of a table of kernels. All except name, type and rank need
// a run that was read with details, shape and arguments one that was read with arguments.
struct KernelsOptions {
  bool by_name = true;
  bool by_type = false;       // the kind of work: gemm, attention, ...; see work_names.h
  bool by_operator = false;   // the operator that launched it
  bool by_shape = false;      // the shapes of that operator's arguments
  bool by_arguments = false;  // their types, strides and values as well
  bool by_launch = false;     // grid, block, registers, shared memory
  bool by_stream = false;     // device and stream
  bool by_rank = false;
};

// KernelGroups: the kernels of a run, grouped by the properties that separate the rows of a table.
//
//   KernelGroups groups(run, {.by_name = true, .by_operator = true});
//   groups.for_each([&](const KernelKey& key, const KernelGroup& group) {
//     use(groups.name(key), groups.op(key), group.stats); });
//
// Processes of a team have the same groups, whichever of them has the events.

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
using KernelKey = std::array<std::int64_t, kKernelParts>;

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

  // For finish_groups().
  void add(KernelGroup more);
  void finish();
  auto wired() {
    return std::tuple_cat(std::tie(stats, times, blocks, occupancy, collectives), sums());
  }
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

class KernelGroups {
 public:
  // The run must outlive it.
  KernelGroups(const Run& run, const KernelsOptions& options);

  template <typename Use>
  void for_each(Use use) {
    groups_.for_each(use);
  }
  std::size_t size() const { return groups_.size(); }
  const KernelTotals& totals() const { return totals_; }

  std::string_view name(const KernelKey& key) const { return names_.text(key[kKernelName]); }
  std::string_view op(const KernelKey& key) const { return names_.text(key[kKernelOperator]); }
  // Texts for find_detail().
  std::string_view launch(const KernelKey& key) const { return launches_.text(key[kKernelLaunch]); }
  std::string_view arguments(const KernelKey& key) const {
    return arguments_.text(key[kKernelArguments]);
  }

 private:
  void add_rank(const RankEvents& rank);
  void name_collectives(const RankEvents& rank, const Operators& operators);
  void add_kernel(const RankEvents& rank, const DeviceSpan& span, const OperatorNode* launcher);
  KernelKey key_of(const RankEvents& rank, const DeviceSpan& span, const OperatorNode* launcher);
  std::int64_t type_of(std::int64_t op, std::int64_t kernel);

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

// Returns the shape among the arguments of an operator, a text for find_detail().
std::string_view find_shape(std::string_view arguments);

// Returns the value of a column: what find_detail() finds in a text of the row.
template <typename Text>
auto detail_of(Text text, std::string_view key) {
  return [text, key](const auto& row) {
    return text_or_nothing(find_detail(value_in(text, row), key));
  };
}

}  // namespace traceloom
