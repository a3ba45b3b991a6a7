// The operators of a run, grouped by the properties that tell the rows of a table apart.
#pragma once

#include "analysis/numbers.h"
#include "analysis/operators.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// The properties that separate the rows of a table of operators. The run must have been read with
// details; shape and arguments need one that was read with arguments.
struct OpsOptions {
  bool by_name = true;
  bool by_type = false;       // the kind of work: gemm, attention, ...; see work_names.h
  bool by_shape = false;      // the shapes of its arguments
  bool by_arguments = false;  // their types, strides and values as well
  bool by_thread = false;
  bool by_rank = false;
};

// OpGroups: the operators of a run, grouped by the properties that separate the rows of a table.
//
//   OpGroups groups(run, {.by_name = true, .by_shape = true});
//   groups.for_each([&](const OpKey& key, const OpGroup& group) { use(groups.name(key)); });
//
// Processes of a team have the same groups, whichever of them has the events.

// The parts of a key; a property that does not separate rows is 0.
enum OpPart : std::size_t { kOpRank, kOpThread, kOpType, kOpArguments, kOpName, kOpParts };
using OpKey = std::array<std::int64_t, kOpParts>;

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

  // For finish_groups().
  void add(OpGroup more);
  void finish();
  auto sums() {
    return std::tie(host_self_ns, device_self_ns, device_total_ns, tensor_self_ns, tensor_total_ns,
                    kernel_self_ns, kernel_total_ns, eligible);
  }
  auto wired() { return std::tuple_cat(std::tie(host, device, host_times, device_times), sums()); }
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

class OpGroups {
 public:
  // The run must outlive it.
  OpGroups(const Run& run, const OpsOptions& options);

  template <typename Use>
  void for_each(Use use) {
    groups_.for_each(use);
  }
  const OpTotals& totals() const { return totals_; }
  std::size_t size() const { return groups_.size(); }

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

  void add_rank(const RankEvents& rank);
  std::vector<Launched> find_launched(const RankEvents& rank, const Operators& operators);
  static void add_repeats(const std::vector<OperatorNode>& nodes, std::vector<Launched>& own);
  void add_operator(OpGroup& group, const OperatorNode& node, const Launched& own);
  OpKey key_of(const RankEvents& rank, const OperatorNode& node, const Launched& launched);

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

}  // namespace traceloom
