#include "truth_rows.h"

#include "truth_checks.h"

#include <fmt/format.h>

#include <cmath>

namespace traceloom {
namespace {

struct Difference {
  std::string metric;
  std::string trace;   // part of the path
  std::string source;  // part of it
  std::string reason;
};

const std::vector<Difference>& differences() {
  static const std::vector<Difference> kDifferences{
      {"step_breakdown_us", "multi4_", "tb_plugin",
       "the plugin does not see ncclDevKernel_* as communication; the rows by hand beside it do"},
      {"step_breakdown_us", "tb_distributed_nccl_user_annotation", "tb_plugin",
       "without cpu ops the plugin's step has a length of -2^64; ours is the span that is there"},
      {"step_breakdown_avg_us", "tb_distributed_nccl_user_annotation", "tb_plugin",
       "as in step_breakdown_us"},
  };
  return kDifferences;
}

}  // namespace

std::string deliberate_difference(const TruthRow& row) {
  for (const Difference& difference : differences())
    if (difference.metric == row.metric &&
        row.traces.front().find(difference.trace) != std::string::npos &&
        row.source.find(difference.source) != std::string::npos)
      return difference.reason;
  return "";
}

double number_of(const oracle::Json& object, const std::string& key, double otherwise) {
  const oracle::Json* const value = object.find(key);
  return value == nullptr || value->kind == oracle::Json::Kind::null ? otherwise
                                                                     : std::stod(value->text);
}

std::string text_of_key(const oracle::Json& object, const std::string& key) {
  const oracle::Json* const value = object.find(key);
  return value == nullptr ? "" : value->text;
}

std::string compare(const TruthRow& row, const std::string& key, double found, double expected) {
  // Doubles that went through a division are not equal to the last bit.
  const double allowed = std::max(row.tolerance, 1e-9) * std::max(1.0, std::abs(expected));
  if (std::abs(found - expected) <= allowed) return "";
  return fmt::format("{}: {} and not {}; ", key, found, expected);
}

const std::map<std::string, TruthCheck>& truth_checks() {
  static const std::map<std::string, TruthCheck> kChecks{
      {"step_breakdown_us", check_step_breakdown},
      {"step_breakdown_avg_us", check_step_breakdown_average},
  };
  return kChecks;
}

}  // namespace traceloom
