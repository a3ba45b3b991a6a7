// OpGroups: the operators of a run, gathered by what the rows of a table are told apart by.
//
//   OpGroups groups(run, {.by_name = true, .by_shape = true});
//   groups.for_each([&](const OpKey& key, const OpGroup& group) { use(groups.name(key)); });
#pragma once

#include "analysis/numbers/grouped.h"
#include "analysis/numbers/text_numbers.h"
#include "analysis/work/ops_options.h"
#include "run/operators.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

// Parts of a key; what rows are not told apart by is 0.
enum OpPart : std::size_t { kOpRank, kOpThread, kOpType, kOpArguments, kOpName, kOpParts };
using OpKey = std::array<std::int64_t, kOpParts>;

struct OpGroup {
  std::vector<std::int64_t> host_times;
  std::vector<std::int64_t> device_times;  // of those that gave work to a device themselves
  std::int64_t host_self_ns = 0;
  std::int64_t device_self_ns = 0;
  std::int64_t device_total_ns = 0;
  std::int64_t tensor_self_ns = 0;  // of what used tensor cores by its name
  std::int64_t tensor_total_ns = 0;
  std::int64_t kernel_self_ns = 0;  // device times without copies
  std::int64_t kernel_total_ns = 0;
  std::int64_t eligible = 0;  // that could use tensor cores
};

struct OpTotals {
  std::int64_t host_self_ns = 0;
  std::int64_t device_self_ns = 0;
  std::int64_t not_launched_ns = 0;  // device work of which no operator is known
  std::int64_t kernel_ns = 0;
  std::int64_t eligible_ns = 0;  // of kernels of operators that could use tensor cores
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
  // What an operator gave to devices, beside what Operators knows.
  struct Launched {
    std::int64_t tensor_ns = 0;
    std::int64_t kernel_ns = 0;
    std::int64_t first_ns = 0;
    std::int64_t kernel = TextNumbers::kNothing;  // the name of the first
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
  std::vector<bool> eligible_labels_;  // operators that could
  Grouped<std::int64_t, 2> types_;     // by (operator, kernel); one more than the type
  Grouped<OpGroup, kOpParts> groups_;
  OpTotals totals_;
};

}  // namespace traceloom
