#include "analysis/numbers.h"

#include "base/arithmetic.h"

#include <cmath>

namespace traceloom {
namespace {

constexpr double kMillion = 1e6;

std::int64_t standard_deviation(const std::vector<std::int64_t>& times, long double mean) {
  if (times.size() < 2) return 0;
  long double squares = 0;
  for (const std::int64_t ns : times) {
    const long double distance = static_cast<long double>(ns) - mean;
    squares += distance * distance;
  }
  return std::llround(std::sqrt(squares / static_cast<long double>(times.size() - 1)));
}

}  // namespace

TimeStats time_stats(std::vector<std::int64_t> times) {
  TimeStats stats;
  if (times.empty()) return stats;
  std::sort(times.begin(), times.end());
  stats.count = static_cast<std::int64_t>(times.size());
  long double exact_ns = 0;  // wide, because a file may claim times of any length
  for (const std::int64_t ns : times) {
    add_to(stats.total_ns, ns);
    exact_ns += static_cast<long double>(ns);
  }
  stats.mean_ns = mean(times);
  stats.min_ns = times.front();
  stats.p50_ns = times[percentile_place(times.size(), 50)];
  stats.p90_ns = times[percentile_place(times.size(), 90)];
  stats.p99_ns = times[percentile_place(times.size(), 99)];
  stats.max_ns = times.back();
  stats.stddev_ns = standard_deviation(times, exact_ns / static_cast<long double>(stats.count));
  return stats;
}

void WeightedMean::add(double number, std::int64_t ns) {
  if (!(std::abs(number) < 1e12)) return;  // infinity, or no number of blocks or percent
  const std::int64_t millionths = std::llround(number * kMillion);
  sum_ += Int128{millionths} * ns;
  add_to(ns_, ns);
  plain_ += millionths;
  ++count_;
}

void WeightedMean::add(const WeightedMean& more) {
  sum_ += more.sum_;
  add_to(ns_, more.ns_);
  plain_ += more.plain_;
  count_ += more.count_;
}

double WeightedMean::value() const {
  if (ns_ > 0)
    return static_cast<double>(static_cast<long double>(sum_) / static_cast<long double>(ns_)) /
           kMillion;
  if (count_ == 0) return 0;
  return static_cast<double>(static_cast<long double>(plain_) / static_cast<long double>(count_)) /
         kMillion;
}

TextNumbers label_names(const Labels& labels) {
  TextNumbers names;
  for (std::uint32_t label = 0; label < labels.size(); ++label) names.add(labels.name(label));
  return names;
}

TextNumbers detail_parts(const StringTable& details, const std::vector<std::string_view>& keys) {
  TextNumbers parts;
  std::string part;
  for (std::uint32_t detail = 0; detail < details.size(); ++detail) {
    part.clear();
    for (const std::string_view key : keys) {
      const std::string_view value = find_detail(details[detail], key);
      if (!value.empty()) append_detail(part, key, value);
    }
    parts.add(part);
  }
  return parts;
}

TextNumbers argument_parts(const StringTable& details, bool all) {
  std::vector<std::string_view> keys{"Input Dims", "Input dims"};
  if (all) keys.insert(keys.end(), {"Input type", "Input Strides", "Concrete Inputs"});
  return detail_parts(details, keys);
}

std::string_view find_shape(std::string_view arguments) {
  const std::string_view dims = find_detail(arguments, "Input Dims");
  return dims.empty() ? find_detail(arguments, "Input dims") : dims;
}

}  // namespace traceloom
