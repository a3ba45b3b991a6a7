#include "comparison/differences.h"

#include "base/saturating.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace traceloom {
namespace {

using TimeOfShapes = std::map<std::string, std::int64_t>;
using ShapesOfOperators = std::map<std::string, TimeOfShapes>;

ShapesOfOperators shapes_of(const Capture& capture) {
  ShapesOfOperators found;
  for (const ShapeTime& shape : capture.shapes) add_to(found[shape.op][shape.shapes], shape.ns);
  return found;
}

std::string longest_shape(const TimeOfShapes& shapes) {
  return std::max_element(shapes.begin(), shapes.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// ShapeCheck compares the shapes of one capture with those of another.
struct ShapeCheck {
  std::int64_t common_ns = 0;  // time of the operators that both have
  std::int64_t other_ns = 0;   // of that, with shapes that the other does not have
  std::string largest;         // the operator with most of other_ns
};

ShapeCheck check_shapes(const ShapesOfOperators& some, const ShapesOfOperators& others) {
  ShapeCheck check;
  std::int64_t largest_ns = 0;
  for (const auto& [op, shapes] : some) {
    const auto other = others.find(op);
    if (other == others.end()) continue;
    std::int64_t other_ns = 0;
    for (const auto& [shape, ns] : shapes) {
      add_to(check.common_ns, ns);
      if (!other->second.contains(shape)) add_to(other_ns, ns);
    }
    add_to(check.other_ns, other_ns);
    if (other_ns > largest_ns) {
      largest_ns = other_ns;
      check.largest = op;
    }
  }
  return check;
}

std::string names_of(const std::set<std::string>& names) {
  return names.empty() ? "unknown" : fmt::format("{}", fmt::join(names, " and "));
}

std::string ranks_of(std::int64_t count) {
  return fmt::format("{} rank{}", count, count == 1 ? "" : "s");
}

class CaptureDifferences {
 public:
  CaptureDifferences(const Capture& one, const Capture& other, std::vector<Difference>& found)
      : one_(one), other_(other), found_(found) {}

  void find() {
    find_ranks();
    if (one_.world_size != other_.world_size && one_.world_size > 0 && other_.world_size > 0)
      add("world-size", ranks_of(one_.world_size), ranks_of(other_.world_size), true);
    if (one_.devices != other_.devices && !one_.devices.empty() && !other_.devices.empty())
      add("devices", names_of(one_.devices), names_of(other_.devices), true);
    find_shapes();
    if (one_.producers != other_.producers && !one_.producers.empty() && !other_.producers.empty())
      add("producer", names_of(one_.producers), names_of(other_.producers), false);
    if (one_.has_python != other_.has_python)
      add("python", one_.has_python ? "recorded" : "not recorded",
          other_.has_python ? "recorded" : "not recorded", false);
  }

 private:
  void add(std::string_view key, const std::string& one, const std::string& other, bool forbids) {
    found_.push_back(
        {key, fmt::format("{}: {} in {}, {} in {}", key, one, one_.name, other, other_.name),
         forbids});
  }

  void find_ranks() {
    const auto ranks_in = [](const Capture& capture) {
      std::vector<std::int64_t> ranks;
      for (const CaptureRank& rank : capture.ranks) ranks.push_back(rank.rank);
      return ranks;
    };
    const std::vector<std::int64_t> some = ranks_in(one_);
    const std::vector<std::int64_t> others = ranks_in(other_);
    if (some == others) return;
    const auto text = [](const std::vector<std::int64_t>& ranks) {
      return ranks.size() <= 8 ? fmt::format("{}", fmt::join(ranks, " "))
                               : fmt::format("{} ranks", ranks.size());
    };
    add("ranks", text(some), text(others), true);
  }

  void find_shapes() {
    if (one_.shapes.empty() != other_.shapes.empty())
      return add("shapes-recorded", one_.shapes.empty() ? "no" : "yes",
                 other_.shapes.empty() ? "no" : "yes", false);
    const ShapesOfOperators some = shapes_of(one_);
    const ShapesOfOperators others = shapes_of(other_);
    const ShapeCheck one = check_shapes(some, others);
    const ShapeCheck other = check_shapes(others, some);
    if (one.other_ns <= one.common_ns / 2 || other.other_ns <= other.common_ns / 2) return;
    const std::string& op = one.largest;
    add("shapes", fmt::format("{} has {}", op, longest_shape(some.at(op))),
        longest_shape(others.at(op)), true);
  }

  const Capture& one_;
  const Capture& other_;
  std::vector<Difference>& found_;
};

}  // namespace

std::vector<Difference> find_differences(const std::vector<Capture>& base,
                                         const std::vector<Capture>& changed) {
  std::vector<Difference> found;
  for (const std::vector<Capture>* const side : {&base, &changed})
    for (std::size_t i = 1; i < side->size(); ++i)
      CaptureDifferences(side->front(), (*side)[i], found).find();
  CaptureDifferences(base.front(), changed.front(), found).find();
  return found;
}

}  // namespace traceloom
