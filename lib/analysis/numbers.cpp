#include "analysis/numbers.h"

#include <cmath>

namespace traceloom {
namespace {

constexpr double kMillion = 1e6;

}  // namespace

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
