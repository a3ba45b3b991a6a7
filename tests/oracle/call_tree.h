// The slow, obvious call tree, operators and kernels: every microsecond of every thread is looked
// at by itself.
//
// Of a list of X events in whole microseconds, with the categories of torch.profiler and one pid.
// Calls have correlations of their own, operators External ids of their own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace traceloom::oracle {

struct TreeRow {
  std::int64_t count = 0;
  std::int64_t host_self_ns = 0;
  std::int64_t host_total_ns = 0;
  std::int64_t device_self_ns = 0;
  std::int64_t device_total_ns = 0;

  friend bool operator==(const TreeRow&, const TreeRow&) = default;
};

// Returns rows by stack, "7;outer;inner", where "7" is a thread; "?" is work without a recorded
// launch. With `calls`, calls are nodes of their own; otherwise their time belongs to the span
// around them.
std::map<std::string, TreeRow> find_call_tree(const std::string& trace, bool calls);

// Returns rows by the name of the operator. The count excludes operators that are the only child of
// an operator with the same name.
std::map<std::string, TreeRow> find_operators(const std::string& trace);

// Times in ascending order, by the names of the kernel and of the operator that launched it ("" for
// none).
std::map<std::pair<std::string, std::string>, std::vector<std::int64_t>> find_kernels(
    const std::string& trace);

}  // namespace traceloom::oracle
