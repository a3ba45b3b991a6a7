#include "comparison/sides.h"

#include "base/arithmetic.h"
#include "base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace traceloom {
namespace {

bool has_module(const CaptureRow& row) {
  return !row.key->module.empty();
}

// Returns the rank as it would be if no module had been recorded.
CaptureRank without_modules(const CaptureRank& rank) {
  CaptureRank joined = rank;
  joined.rows.clear();
  std::vector<std::uint32_t> places;
  places.reserve(rank.rows.size());
  // Rows that differ by their modules alone follow each other.
  for (const CaptureRow& row : rank.rows) {
    RowKey key = *row.key;
    key.module.clear();
    if (joined.rows.empty() || *joined.rows.back().key != key) {
      joined.rows.push_back(row);
      joined.rows.back().key = shared_key(std::move(key));
    } else {
      CaptureRow& sum = joined.rows.back();
      add_to(sum.exclusive_ns, row.exclusive_ns);
      add_to(sum.total_ns, row.total_ns);
      add_to(sum.count, row.count);
    }
    places.push_back(static_cast<std::uint32_t>(joined.rows.size() - 1));
  }
  for (std::uint32_t& row : joined.sequence) row = places[row];
  return joined;
}

}  // namespace

std::vector<std::int64_t> divide_parts(const std::vector<std::int64_t>& parts, std::int64_t by) {
  std::vector<std::int64_t> quotients;
  quotients.reserve(parts.size());
  std::int64_t remainders = 0;
  for (const std::int64_t part : parts) {
    quotients.push_back(part / by);
    remainders += part % by;
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a] % by > parts[b] % by; });
  for (std::size_t i = 0; i < static_cast<std::size_t>(remainders / by); ++i) ++quotients[order[i]];
  return quotients;
}

namespace {

// Sums up the mean steps of a rank, one capture after another.
class MeanRows {
 public:
  // Adds the mean step of one capture, of at least one kind.
  void add(const std::vector<WeighedRank>& kinds) {
    ++used_;
    std::vector<Sum*> of_capture;
    for (const WeighedRank& kind : kinds) {
      const std::vector<Sum*> of_kind = add_rows(kind);
      divide(of_kind, &Sum::kind_ns, static_cast<std::int64_t>(kind.rank->steps), kind.share,
             &Sum::capture_ns);
      of_capture.insert(of_capture.end(), of_kind.begin(), of_kind.end());
    }
    divide(of_capture, &Sum::capture_ns, kinds.front().shares, 1, &Sum::exclusive_ns);
  }

  // At least one rank was added.
  void move_to(SideRank& side) {
    std::vector<std::int64_t> sums;
    sums.reserve(rows_.size());
    for (const auto& [key, sum] : rows_) sums.push_back(sum.exclusive_ns);
    const std::vector<std::int64_t> means = divide_parts(sums, used_);
    const auto captures = static_cast<double>(used_);
    for (const auto& [key, sum] : rows_) {
      const std::int64_t mean_ns = means[side.rows.size()];
      add_to(side.step_ns, mean_ns);
      side.rows.push_back(
          {*key, mean_ns, std::llround(sum.total_ns / captures), sum.count / captures});
    }
  }

 private:
  struct Sum {
    std::int64_t kind_ns = 0;     // of the steps of one kind of the capture that is added
    std::int64_t capture_ns = 0;  // of so many of its steps as both sides have
    std::int64_t exclusive_ns = 0;
    double total_ns = 0;
    double count = 0;
  };

  std::vector<Sum*> add_rows(const WeighedRank& kind) {
    std::vector<Sum*> rows;
    rows.reserve(kind.rank->rows.size());
    auto place = rows_.begin();  // captures mostly have the same rows, in order
    for (const CaptureRow& row : kind.rank->rows) {
      place = rows_.try_emplace(place, row.key);
      Sum& sum = place++->second;
      sum.count += kind.mean(static_cast<double>(row.count));
      sum.total_ns += kind.mean(static_cast<double>(row.total_ns));
      add_to(sum.kind_ns, row.exclusive_ns);
      rows.push_back(&sum);
    }
    return rows;
  }

  // Moves the quotients, `times` as large; a row that is there twice has nothing the second time.
  static void divide(const std::vector<Sum*>& rows, std::int64_t Sum::*from, std::int64_t by,
                     std::int64_t times, std::int64_t Sum::*to) {
    std::vector<std::int64_t> parts;
    parts.reserve(rows.size());
    for (Sum* const row : rows) parts.push_back(std::exchange(row->*from, 0));
    const std::vector<std::int64_t> quotients = divide_parts(parts, by);
    for (std::size_t i = 0; i < rows.size(); ++i)
      add_to(rows[i]->*to, saturating_multiply(quotients[i], times));
  }

  std::map<SharedKey, Sum, KeyOrder> rows_;
  std::int64_t used_ = 0;
};

}  // namespace

SideRank side_rank(std::span<const Capture> captures, std::int64_t rank, const ComparedSteps& steps,
                   ModuleRows modules) {
  SideRank side;
  side.rank = rank;
  MeanRows means;
  std::optional<CaptureRank> first;
  for (const Capture& capture : captures) {
    std::vector<WeighedRank> kinds = steps.rows_of(capture, rank);
    if (kinds.empty()) continue;
    std::vector<CaptureRank> joined;
    joined.reserve(kinds.size());
    if (modules == ModuleRows::joined)
      for (WeighedRank& kind : kinds) kind.rank = &joined.emplace_back(without_modules(*kind.rank));
    means.add(kinds);
    if (!first)
      first = *std::ranges::max_element(kinds, {}, [](const WeighedRank& kind) {
                 return kind.rank->sequence.size();
               })->rank;
  }
  if (!first) return side;
  means.move_to(side);
  for (const std::uint32_t row : first->sequence) {
    const auto place =
        std::ranges::lower_bound(side.rows, *first->rows[row].key, {}, &SideRow::key);
    side.sequence.push_back(static_cast<std::uint32_t>(place - side.rows.begin()));
  }
  return side;
}

std::set<bool> name_modules(const std::vector<Capture>& captures, std::int64_t rank) {
  std::set<bool> found;
  for (const Capture& capture : captures)
    for (const WeighedRank& one : ComparedSteps().rows_of(capture, rank))
      found.insert(std::ranges::any_of(one.rank->rows, has_module));
  return found;
}

std::vector<std::int64_t> ranks_with_steps(const std::vector<Capture>& captures) {
  std::set<std::int64_t> ranks;
  for (const Capture& capture : captures)
    for (const CaptureRank& rank : capture.ranks)
      if (rank.steps > 0) ranks.insert(rank.rank);
  return {ranks.begin(), ranks.end()};
}

namespace {

using TimeOfShapes = std::map<std::string, std::int64_t>;
using ShapesOfOperators = std::map<std::string, TimeOfShapes>;

ShapesOfOperators shapes_of(const Capture& capture) {
  ShapesOfOperators found;
  for (const ShapeTime& shape : capture.shapes) add_to(found[shape.op][shape.shapes], shape.ns);
  return found;
}

std::string longest_shape(const TimeOfShapes& shapes) {
  return std::ranges::max_element(shapes, {}, &TimeOfShapes::value_type::second)->first;
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
  return fmt::format("{} {}", count, plural(static_cast<std::uint64_t>(count), "rank"));
}

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
  return ranks.size() <= 8 ? fmt::format("{}", fmt::join(ranks, " "))
                           : fmt::format("{} ranks", ranks.size());
}

void add_differences(const Capture& one, const Capture& other, std::vector<Difference>& found) {
  const auto add = [&](std::string_view key, const std::string& some, const std::string& others,
                       bool forbids) {
    found.push_back({key,
                     fmt::format("{}: {} in {}, {} in {}", key, some, one.name, others, other.name),
                     forbids});
  };
  const auto add_names = [&](std::string_view key, const std::set<std::string> Capture::*names,
                             bool forbids) {
    if (one.*names != other.*names && !(one.*names).empty() && !(other.*names).empty())
      add(key, names_of(one.*names), names_of(other.*names), forbids);
  };
  if (ranks_in(one) != ranks_in(other))
    add("ranks", ranks_text(ranks_in(one)), ranks_text(ranks_in(other)), true);
  if (one.world_size != other.world_size && one.world_size > 0 && other.world_size > 0)
    add("world-size", ranks_of(one.world_size), ranks_of(other.world_size), true);
  add_names("devices", &Capture::devices, true);
  if (one.shapes.empty() != other.shapes.empty()) {
    add("shapes-recorded", one.shapes.empty() ? "no" : "yes", other.shapes.empty() ? "no" : "yes",
        false);
  } else {
    const ShapesOfOperators some = shapes_of(one);
    const ShapesOfOperators others = shapes_of(other);
    const ShapeCheck here = check_shapes(some, others);
    const ShapeCheck there = check_shapes(others, some);
    const std::string& op = here.largest;
    if (here.other_ns > here.common_ns / 2 && there.other_ns > there.common_ns / 2)
      add("shapes", fmt::format("{} has {}", op, longest_shape(some.at(op))),
          longest_shape(others.at(op)), true);
  }
  add_names("producer", &Capture::producers, false);
  if (one.has_python != other.has_python)
    add("python", one.has_python ? "recorded" : "not recorded",
        other.has_python ? "recorded" : "not recorded", false);
}

}  // namespace

std::vector<Difference> find_differences(const std::vector<Capture>& base,
                                         const std::vector<Capture>& changed) {
  std::vector<Difference> found;
  for (const std::vector<Capture>* const side : {&base, &changed})
    for (std::size_t i = 1; i < side->size(); ++i)
      add_differences(side->front(), (*side)[i], found);
  add_differences(base.front(), changed.front(), found);
  return found;
}

}  // namespace traceloom
