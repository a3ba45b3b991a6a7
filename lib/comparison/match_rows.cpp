#include "analysis/work/work_names.h"
#include "base/ascii.h"
#include "comparison/sides.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

using Indices = std::vector<std::size_t>;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

bool same_calls(double a, double b) {
  return std::abs(a - b) <= 0.005 * std::max(a, b);
}

// Both ascend, and so do the results of these.
Indices united(const Indices& some, const Indices& others) {
  Indices all;
  std::set_union(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(all));
  return all;
}

bool meet(const Indices& some, const Indices& others) {
  Indices both;
  std::set_intersection(some.begin(), some.end(), others.begin(), others.end(),
                        std::back_inserter(both));
  return !both.empty();
}

// Inductor numbers the kernels of a program: triton_poi_fused_add_relu_3 is its fourth one. One
// more kernel in front gives all later ones another number.
struct TritonName {
  std::string_view stem;  // "" for any other name
  std::int64_t number = 0;
};

TritonName read_triton_name(std::string_view name) {
  const std::size_t end = name.rfind('_');
  if (!name.starts_with("triton_") || end == std::string_view::npos) return {};
  const std::optional<std::int64_t> number = whole_number<std::int64_t>(name.substr(end + 1));
  return number ? TritonName{name.substr(0, end), *number} : TritonName{};
}

// One side, with what is known of its rows so far.
struct Side {
  const SideRank& rank;
  Indices RowMatch::*rows;
  Indices match;  // [row]: index of its match

  Side(const SideRank& of, Indices RowMatch::*own)
      : rank(of), rows(own), match(of.rows.size(), kNone) {}

  const RowKey& key(std::size_t row) const { return rank.rows[row].key; }
  double calls(std::size_t row) const { return rank.rows[row].count; }
  bool names_modules() const {
    return std::any_of(rank.rows.begin(), rank.rows.end(),
                       [](const SideRow& row) { return !row.key.module.empty(); });
  }
  bool has_left(const RowMatch& of) const {
    return std::any_of((of.*rows).begin(), (of.*rows).end(),
                       [&](std::size_t row) { return match[row] == kNone; });
  }
  double calls_of(const RowMatch& of) const {
    double sum = 0;
    for (const std::size_t row : of.*rows) sum += calls(row);
    return sum;
  }
  Indices by_number(const RowMatch& of) const {
    Indices ordered = of.*rows;
    std::ranges::stable_sort(
        ordered, {}, [&](std::size_t row) { return read_triton_name(key(row).name).number; });
    return ordered;
  }
  std::vector<std::string_view> names(const Indices& of) const {
    std::vector<std::string_view> all;
    for (const std::size_t row : of) all.push_back(key(row).name);
    return all;
  }
  std::vector<std::int64_t> times(const Indices& of) const {
    std::vector<std::int64_t> all;
    for (const std::size_t row : of) all.push_back(rank.rows[row].total_ns);
    return all;
  }
  // The rows in the order in which they run.
  Indices in_order(const RowMatch& of) const {
    Indices ordered = of.*rows;
    const auto place = [&](std::size_t row) {
      return std::find(rank.sequence.begin(), rank.sequence.end(), row) - rank.sequence.begin();
    };
    std::stable_sort(ordered.begin(), ordered.end(),
                     [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    return ordered;
  }
};

// Says whether rows of different modules may match.
enum class Modules : std::uint8_t { same, any };

std::string module_of(const RowKey& key, Modules modules) {
  return modules == Modules::same ? key.module : "";
}

std::tuple<Role, std::string, std::string> kernel_of(const RowKey& key) {
  return {key.role, key.op, key.name};
}

bool has_both(const RowMatch& rows) {
  return !rows.base.empty() && !rows.changed.empty();
}

// Pairs all of the shorter list with some of the longer one, both in order, so that the differences
// of the pairs are smallest: [i] is the partner of i.
Indices pair_in_order(const std::vector<std::int64_t>& shorter,
                      const std::vector<std::int64_t>& longer) {
  constexpr std::size_t kMostCells = 1'000'000;
  const std::size_t spare = longer.size() - shorter.size();
  Indices partners(shorter.size());
  std::iota(partners.begin(), partners.end(), std::size_t{0});
  if (spare == 0 || shorter.size() * (spare + 1) > kMostCells) return partners;
  // [i][skipped]: the least sum for the first i, if so many of the longer list were passed over.
  std::vector<std::vector<double>> least(shorter.size() + 1, std::vector<double>(spare + 1, 0));
  for (std::size_t i = 0; i < shorter.size(); ++i)
    for (std::size_t skipped = 0; skipped <= spare; ++skipped) {
      const auto difference = [&](std::size_t passed) {
        return least[i][passed] +
               std::abs(static_cast<double>(shorter[i]) - static_cast<double>(longer[i + passed]));
      };
      double& sum = least[i + 1][skipped];
      sum = difference(skipped);
      if (skipped > 0) sum = std::min(sum, least[i + 1][skipped - 1]);
    }
  std::size_t skipped = spare;
  for (std::size_t i = shorter.size(); i > 0; --i) {
    while (skipped > 0 && least[i][skipped - 1] == least[i][skipped]) --skipped;
    partners[i - 1] = i - 1 + skipped;
  }
  return partners;
}

class Matcher {
 public:
  Matcher(const SideRank& base, const SideRank& changed)
      : base_(base, &RowMatch::base),
        changed_(changed, &RowMatch::changed),
        has_modules_(base_.names_modules() || changed_.names_modules()) {}

  std::vector<RowMatch> find() {
    match_numbered();
    match_names();
    if (has_modules_) match_canonical_names(Modules::same);
    match_canonical_names(Modules::any);
    if (has_modules_) match_modules();
    match_places();
    match_fused_names();
    if (has_modules_) match_operators(Modules::same);
    match_operators(Modules::any);
    for (const Side* const side : {&base_, &changed_})
      for (std::size_t row = 0; row < side->match.size(); ++row)
        if (side->match[row] == kNone) {
          RowMatch alone;
          (alone.*side->rows).push_back(row);
          add(MatchLevel::none, std::move(alone));
        }
    std::erase_if(matches_, [](const RowMatch& match) {
      return match.base.empty() && match.changed.empty();
    });
    return std::move(matches_);
  }

 private:
  void add(MatchLevel level, RowMatch rows) {
    rows.level = level;
    for (Side* const side : {&base_, &changed_})
      for (const std::size_t row : rows.*side->rows) side->match[row] = matches_.size();
    matches_.push_back(std::move(rows));
  }

  // The rows of the match are in another one from now on.
  void clear(std::size_t match) {
    if (match != kNone) matches_[match] = {};
  }

  // Returns the rows that are left, or all, by a property of their keys.
  template <typename Property>
  auto buckets(Property property, bool of_all = false) const {
    std::map<decltype(property(base_.key(0))), RowMatch> found;
    for (const Side* const side : {&base_, &changed_})
      for (std::size_t row = 0; row < side->match.size(); ++row)
        if (of_all || side->match[row] == kNone)
          (found[property(side->key(row))].*side->rows).push_back(row);
    return found;
  }

  // Matches buckets of one row a side.
  template <typename Property>
  void match_single(MatchLevel level, Property property) {
    for (const auto& [value, bucket] : buckets(property))
      if (bucket.base.size() == 1 && bucket.changed.size() == 1) add(level, bucket);
  }

  // Matches Triton's kernels without their numbers if the sides have other ones, in their order.
  void match_numbered() {
    const auto without_number = [](const RowKey& key) {
      return std::tuple{key.role, key.module, std::string(read_triton_name(key.name).stem)};
    };
    for (const auto& [value, bucket] : buckets(without_number)) {
      if (std::get<2>(value).empty() || !has_both(bucket)) continue;
      const Indices base = base_.by_number(bucket);
      const Indices changed = changed_.by_number(bucket);
      if (base_.names(base) == changed_.names(changed)) continue;
      if (base.size() == changed.size() && is_better_by_name(base, changed)) continue;
      const bool is_turned = base.size() > changed.size();
      const Indices partners = is_turned
                                   ? pair_in_order(changed_.times(changed), base_.times(base))
                                   : pair_in_order(base_.times(base), changed_.times(changed));
      for (std::size_t i = 0; i < partners.size(); ++i) {
        const std::size_t of_base = base[is_turned ? partners[i] : i];
        const std::size_t of_changed = changed[is_turned ? i : partners[i]];
        const bool is_same = base_.key(of_base).name == changed_.key(of_changed).name;
        add(is_same ? MatchLevel::exact : MatchLevel::canonical,
            {.base = {of_base}, .changed = {of_changed}});
      }
    }
  }

  // True if the times of as many kernels of one name without its number differ less where equal
  // names are the same: one is gone and another one is new.
  bool is_better_by_name(const Indices& base, const Indices& changed) const {
    const auto differ = [&](std::size_t a, std::size_t b) {
      return std::abs(static_cast<double>(base_.rank.rows[a].total_ns) -
                      static_cast<double>(changed_.rank.rows[b].total_ns));
    };
    std::map<std::string_view, std::size_t> named;
    for (const std::size_t row : changed) named.emplace(changed_.key(row).name, row);
    double in_order = 0;
    double by_name = 0;
    Indices left;
    for (std::size_t i = 0; i < base.size(); ++i) {
      in_order += differ(base[i], changed[i]);
      const auto same = named.find(base_.key(base[i]).name);
      if (same == named.end()) {
        left.push_back(base[i]);
        continue;
      }
      by_name += differ(base[i], same->second);
      named.erase(same);
    }
    auto other = named.begin();
    for (std::size_t i = 0; i < left.size() && other != named.end(); ++i, ++other)
      by_name += differ(left[i], other->second);
    return by_name <= in_order;
  }

  void match_names() {
    match_single(MatchLevel::exact, [](const RowKey& key) { return key; });
    if (has_modules_) {
      match_moved_kernels();
      // The same kernels in modules that the other side does not have are one match.
      for (const auto& [value, bucket] : buckets(kernel_of))
        if (has_both(bucket)) add(MatchLevel::exact, bucket);
      match_single(MatchLevel::exact, [](const RowKey& key) {
        return std::tuple{key.role, key.module, key.name};
      });
    }
    match_single(MatchLevel::exact, [](const RowKey& key) {
      return std::pair{key.role, key.name};
    });
  }

  // If a kernel moved to a module that has a row of it already, the rows of one side are left over,
  // though both sides call it as often: all its rows are one match then.
  void match_moved_kernels() {
    for (const auto& [kernel, bucket] : buckets(kernel_of, true)) {
      if (!has_both(bucket) || base_.has_left(bucket) == changed_.has_left(bucket) ||
          !same_calls(base_.calls_of(bucket), changed_.calls_of(bucket)))
        continue;
      for (const std::size_t row : bucket.base) clear(base_.match[row]);
      add(MatchLevel::exact, bucket);
    }
  }

  void match_canonical_names(Modules modules) {
    const auto with_operator = [modules](const RowKey& key) {
      return std::tuple{key.role, key.op, module_of(key, modules), canonical_name(key.name)};
    };
    for (const auto& [value, bucket] : buckets(with_operator)) match_in_order(bucket);
    match_single(MatchLevel::canonical, with_operator);
    match_single(MatchLevel::canonical, [modules](const RowKey& key) {
      return std::tuple{key.role, module_of(key, modules), canonical_name(key.name)};
    });
  }

  // Of rows that could mean each other, matches those with the same calls a step, in the order in
  // which they run.
  void match_in_order(const RowMatch& bucket) {
    if (bucket.base.size() != bucket.changed.size()) return;
    const Indices base = base_.in_order(bucket);
    const Indices changed = changed_.in_order(bucket);
    for (std::size_t i = 0; i < base.size(); ++i)
      if (same_calls(base_.calls(base[i]), changed_.calls(changed[i])))
        add(MatchLevel::canonical, {.base = {base[i]}, .changed = {changed[i]}});
  }

  // Adds a group of rows that are one match, and joins it with those that have a row of it.
  static void join(std::vector<RowMatch>& groups, RowMatch group) {
    for (auto old = groups.begin(); old != groups.end();) {
      if (!meet(old->base, group.base) && !meet(old->changed, group.changed)) {
        ++old;
        continue;
      }
      group.base = united(group.base, old->base);
      group.changed = united(group.changed, old->changed);
      old = groups.erase(old);
    }
    groups.push_back(std::move(group));
  }

  void add_groups(const std::vector<RowMatch>& groups) {
    for (const RowMatch& group : groups) add(MatchLevel::place, group);
  }

  // One kernel of an operator in a module is the other side's kernels of the same there. Of several
  // on both sides, the order in which they run tells more.
  void match_modules() {
    const auto place_of = [](const RowKey& key) {
      return std::tuple{key.role, key.op, key.module};
    };
    for (const auto& [value, bucket] : buckets(place_of)) {
      const auto& [role, op, module] = value;
      if (!op.empty() && !module.empty() &&
          std::min(bucket.base.size(), bucket.changed.size()) == 1)
        add(MatchLevel::place, bucket);
    }
  }

  // The matches of the known kernels before and after a place; kNone is the end of the step.
  using Place = std::pair<std::size_t, std::size_t>;

  static void add_unknown(const Side& side, std::map<Place, RowMatch>& places) {
    std::set<std::size_t> between;
    std::size_t before = kNone;
    const auto close = [&](std::size_t after) {
      if (!between.empty()) {
        Indices& rows = places[{before, after}].*side.rows;
        rows = united(rows, {between.begin(), between.end()});
      }
      between.clear();
      before = after;
    };
    for (const std::uint32_t row : side.rank.sequence)
      side.match[row] == kNone ? void(between.insert(row)) : close(side.match[row]);
    close(kNone);
  }

  // Rows that share a place on both sides are one match, with the rows of their other places.
  void match_places() {
    std::map<Place, RowMatch> places;
    add_unknown(base_, places);
    add_unknown(changed_, places);
    std::vector<RowMatch> groups;
    for (const auto& [place, rows] : places)
      if (has_both(rows)) join(groups, rows);
    add_groups(groups);
  }

  // Triton's names list the operators that a kernel does: triton_red_fused_add_native_layer_norm_5.
  // A kernel of such an operator that is missing on the other side is part of that one.
  // All partners are found before any is joined, so that neither side comes first.
  void match_fused_names() {
    std::vector<RowMatch> groups;
    join_fused_names(base_, changed_, groups);
    join_fused_names(changed_, base_, groups);
    for (const RowMatch& group : groups)
      for (const Side* const side : {&base_, &changed_})
        for (const std::size_t row : group.*side->rows) clear(side->match[row]);
    add_groups(groups);
  }

  void join_fused_names(const Side& side, const Side& other, std::vector<RowMatch>& groups) const {
    for (std::size_t row = 0; row < side.match.size(); ++row) {
      const std::size_t partner = fused_partner(side, row, other);
      if (partner == kNone) continue;
      const std::size_t known = other.match[partner];
      RowMatch group = known == kNone ? RowMatch{} : matches_[known];
      group.*side.rows = united(group.*side.rows, {row});
      group.*other.rows = united(group.*other.rows, {partner});
      join(groups, std::move(group));
    }
  }

  static std::string name_in_triton(const RowKey& key) {
    const std::size_t colon = key.op.rfind(':');
    return key.role != Role::kernel || colon == std::string::npos ? ""
                                                                  : "_" + key.op.substr(colon + 1);
  }

  static bool is_fused_of(const RowKey& key, const std::string& op) {
    return key.role == Role::kernel && key.name.starts_with("triton_") &&
           key.name.find("_fused_") != std::string::npos && key.name.find(op) != std::string::npos;
  }

  // Returns the row of the other side that does the work of an unmatched row, too, or kNone.
  std::size_t fused_partner(const Side& side, std::size_t row, const Side& other) const {
    const std::string op = name_in_triton(side.key(row));
    if (side.match[row] != kNone || op.empty()) return kNone;
    const auto has_it = [&](std::size_t partner) {
      return side.key(partner).name.find(op) != std::string::npos;
    };
    for (std::size_t i = 0; i < other.match.size(); ++i) {
      if (!is_fused_of(other.key(i), op) || !same_calls(side.calls(row), other.calls(i))) continue;
      if (other.match[i] == kNone) return i;
      const RowMatch& known = matches_[other.match[i]];
      const Indices& partners = known.*side.rows;
      if (known.level != MatchLevel::exact && std::ranges::none_of(partners, has_it)) return i;
    }
    return kNone;
  }

  void match_operators(Modules modules) {
    const auto operator_of = [modules](const RowKey& key) {
      return std::tuple{key.role, key.op, module_of(key, modules)};
    };
    for (const auto& [value, bucket] : buckets(operator_of))
      if (!std::get<1>(value).empty() && has_both(bucket)) add(MatchLevel::by_operator, bucket);
  }

  Side base_;
  Side changed_;
  bool has_modules_;
  std::vector<RowMatch> matches_;
};

}  // namespace

std::string_view to_string(MatchLevel level) {
  static constexpr std::array<std::string_view, kMatchLevels> kNames{"name", "canonical name",
                                                                     "place", "operator", "none"};
  return kNames[static_cast<std::size_t>(level)];
}

std::vector<RowMatch> match_rows(const SideRank& base, const SideRank& changed) {
  return Matcher(base, changed).find();
}

}  // namespace traceloom
