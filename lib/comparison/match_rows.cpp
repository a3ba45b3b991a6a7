#include "comparison/match_rows.h"

#include "analysis/work/work_names.h"
#include "base/ascii.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string without_template_arguments(std::string_view name) {
  std::string kept;
  std::size_t depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) kept += c;
    if (c == '>' && depth > 0) --depth;
  }
  // Brackets that do not close are no template arguments: "operator<".
  return depth == 0 ? kept : std::string(name);
}

// torch names a wait "enumerate(DataLoader)#CLASS.__next__", and the class says how many workers
// there are.
std::string without_loader_class(std::string_view name) {
  constexpr std::string_view kLoader = "enumerate(DataLoader)#";
  const std::size_t method = name.find('.');
  if (!name.starts_with(kLoader) || method == std::string_view::npos) return std::string(name);
  return std::string(kLoader).append(name.substr(method));
}

}  // namespace

std::string canonical_name(std::string_view name) {
  if (std::string plain = without_loader_class(name); plain != name) return plain;
  const std::string plain = without_template_arguments(kernel_name(name));
  std::string canonical;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain.compare(i, 2, "0x") == 0 && i + 2 < plain.size() && is_hex(plain[i + 2])) {
      i += 2;
      while (i + 1 < plain.size() && is_hex(plain[i + 1])) ++i;
    } else if (!is_digit(plain[i])) {
      canonical += plain[i];
    }
  }
  return canonical;
}

namespace {

using Indices = std::vector<std::size_t>;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Rows of both sides with one property.
struct Bucket {
  Indices base;
  Indices changed;
};

bool same_calls(double a, double b) {
  return std::abs(a - b) <= 0.005 * std::max(a, b);
}

class Matcher {
 public:
  Matcher(const SideRank& base, const SideRank& changed)
      : base_(base),
        changed_(changed),
        base_match_(base.rows.size(), kNone),
        changed_match_(changed.rows.size(), kNone),
        has_modules_(names_modules(base) || names_modules(changed)) {}

  std::vector<RowMatch> find() {
    match_names();
    if (has_modules_) match_canonical_names(Modules::same);
    match_canonical_names(Modules::any);
    if (has_modules_) match_modules();
    match_places();
    match_fused_names();
    if (has_modules_) match_operators(Modules::same);
    match_operators(Modules::any);
    for (std::size_t i = 0; i < base_.rows.size(); ++i)
      if (base_match_[i] == kNone) add(MatchLevel::none, {i}, {});
    for (std::size_t i = 0; i < changed_.rows.size(); ++i)
      if (changed_match_[i] == kNone) add(MatchLevel::none, {}, {i});
    std::erase_if(matches_, [](const RowMatch& match) {
      return match.base.empty() && match.changed.empty();
    });
    return std::move(matches_);
  }

 private:
  // Says whether rows of different modules may match.
  enum class Modules : std::uint8_t { same, any };

  static bool names_modules(const SideRank& side) {
    return std::any_of(side.rows.begin(), side.rows.end(),
                       [](const SideRow& row) { return !row.key.module.empty(); });
  }

  static std::string module_of(const RowKey& key, Modules modules) {
    return modules == Modules::same ? key.module : "";
  }

  void add(MatchLevel level, Indices base, Indices changed) {
    for (const std::size_t row : base) base_match_[row] = matches_.size();
    for (const std::size_t row : changed) changed_match_[row] = matches_.size();
    matches_.push_back({level, std::move(base), std::move(changed)});
  }

  // Returns the rows that are left, by a property of their keys.
  template <typename Property>
  auto buckets(Property property) const {
    std::map<decltype(property(base_.rows.front().key)), Bucket> found;
    for (std::size_t i = 0; i < base_.rows.size(); ++i)
      if (base_match_[i] == kNone) found[property(base_.rows[i].key)].base.push_back(i);
    for (std::size_t i = 0; i < changed_.rows.size(); ++i)
      if (changed_match_[i] == kNone) found[property(changed_.rows[i].key)].changed.push_back(i);
    return found;
  }

  // Matches buckets of one row a side.
  template <typename Property>
  void match_single(MatchLevel level, Property property) {
    for (const auto& [value, bucket] : buckets(property))
      if (bucket.base.size() == 1 && bucket.changed.size() == 1)
        add(level, bucket.base, bucket.changed);
  }

  // Matches buckets with rows of both sides.
  template <typename Property>
  void match_all(MatchLevel level, Property property) {
    for (const auto& [value, bucket] : buckets(property))
      if (!bucket.base.empty() && !bucket.changed.empty()) add(level, bucket.base, bucket.changed);
  }

  void match_names() {
    match_single(MatchLevel::exact, [](const RowKey& key) { return key; });
    if (has_modules_) {
      match_moved_kernels();
      // The same kernels in modules that the other side does not have are one match.
      match_all(MatchLevel::exact, kernel_of);
      match_single(MatchLevel::exact, [](const RowKey& key) {
        return std::tuple{key.role, key.module, key.name};
      });
    }
    match_single(MatchLevel::exact, [](const RowKey& key) {
      return std::pair{key.role, key.name};
    });
  }

  static std::tuple<Role, std::string, std::string> kernel_of(const RowKey& key) {
    return {key.role, key.op, key.name};
  }

  // If a kernel moved to a module that has a row of it already, the rows of one side are left over,
  // though both sides call it as often: all its rows are one match then.
  void match_moved_kernels() {
    std::map<std::tuple<Role, std::string, std::string>, Bucket> kernels;
    for (std::size_t i = 0; i < base_.rows.size(); ++i)
      kernels[kernel_of(base_.rows[i].key)].base.push_back(i);
    for (std::size_t i = 0; i < changed_.rows.size(); ++i)
      kernels[kernel_of(changed_.rows[i].key)].changed.push_back(i);
    for (const auto& [kernel, bucket] : kernels) {
      const bool is_left = has_left(bucket.base, base_match_);
      if (is_left == has_left(bucket.changed, changed_match_) || bucket.base.empty() ||
          bucket.changed.empty() ||
          !same_calls(calls_of(base_, bucket.base), calls_of(changed_, bucket.changed)))
        continue;
      for (const std::size_t row : bucket.base) clear(base_match_[row]);
      add(MatchLevel::exact, bucket.base, bucket.changed);
    }
  }

  static bool has_left(const Indices& rows, const Indices& match) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](std::size_t row) { return match[row] == kNone; });
  }

  static double calls_of(const SideRank& side, const Indices& rows) {
    double calls = 0;
    for (const std::size_t row : rows) calls += side.rows[row].count;
    return calls;
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
  void match_in_order(const Bucket& bucket) {
    if (bucket.base.size() != bucket.changed.size()) return;
    const Indices base = in_order(base_, bucket.base);
    const Indices changed = in_order(changed_, bucket.changed);
    for (std::size_t i = 0; i < base.size(); ++i)
      if (same_calls(base_.rows[base[i]].count, changed_.rows[changed[i]].count))
        add(MatchLevel::canonical, {base[i]}, {changed[i]});
  }

  static Indices in_order(const SideRank& side, Indices rows) {
    const auto place = [&](std::size_t row) {
      return std::find(side.sequence.begin(), side.sequence.end(), row) - side.sequence.begin();
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    return rows;
  }

  // The matches of the known kernels before and after a place; kNone is the end of the step.
  using Place = std::pair<std::size_t, std::size_t>;
  using RowsOfPlaces = std::map<Place, std::set<std::size_t>>;

  static RowsOfPlaces unknown_rows(const SideRank& side, const Indices& match) {
    RowsOfPlaces places;
    std::set<std::size_t> between;
    std::size_t before = kNone;
    const auto close = [&](std::size_t after) {
      if (!between.empty()) places[{before, after}].insert(between.begin(), between.end());
      between.clear();
      before = after;
    };
    for (const std::uint32_t row : side.sequence)
      match[row] == kNone ? void(between.insert(row)) : close(match[row]);
    close(kNone);
    return places;
  }

  // Rows of both sides that are one match.
  using Group = std::pair<std::set<std::size_t>, std::set<std::size_t>>;

  // Adds a group, and joins it with those that have a row of it.
  static void join(std::vector<Group>& groups, Group group) {
    const auto meets = [](const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
      return std::any_of(a.begin(), a.end(), [&](std::size_t row) { return b.contains(row); });
    };
    for (auto old = groups.begin(); old != groups.end();) {
      if (meets(old->first, group.first) || meets(old->second, group.second)) {
        group.first.insert(old->first.begin(), old->first.end());
        group.second.insert(old->second.begin(), old->second.end());
        old = groups.erase(old);
      } else {
        ++old;
      }
    }
    groups.push_back(std::move(group));
  }

  void add_groups(const std::vector<Group>& groups) {
    for (const auto& [some, others] : groups)
      add(MatchLevel::place, {some.begin(), some.end()}, {others.begin(), others.end()});
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
        add(MatchLevel::place, bucket.base, bucket.changed);
    }
  }

  // Rows that share a place on both sides are one match, with the rows of their other places.
  void match_places() {
    const RowsOfPlaces base = unknown_rows(base_, base_match_);
    const RowsOfPlaces changed = unknown_rows(changed_, changed_match_);
    std::vector<Group> groups;
    for (const auto& [place, rows] : base)
      if (const auto other = changed.find(place); other != changed.end())
        join(groups, {rows, other->second});
    add_groups(groups);
  }

  // Triton's names list the operators that a kernel does: triton_red_fused_add_native_layer_norm_5.
  // A kernel of such an operator that is missing on the other side is part of that one.
  // All partners are found before any is joined, so that neither side comes first.
  void match_fused_names() {
    const Side base{base_, base_match_, &RowMatch::base};
    const Side changed{changed_, changed_match_, &RowMatch::changed};
    std::vector<Group> groups;
    for (std::size_t i = 0; i < base_.rows.size(); ++i)
      if (const std::size_t partner = fused_partner(base, i, changed); partner != kNone) {
        Group group = group_of(changed_match_[partner]);
        group.first.insert(i);
        group.second.insert(partner);
        join(groups, std::move(group));
      }
    for (std::size_t i = 0; i < changed_.rows.size(); ++i)
      if (const std::size_t partner = fused_partner(changed, i, base); partner != kNone) {
        Group group = group_of(base_match_[partner]);
        group.first.insert(partner);
        group.second.insert(i);
        join(groups, std::move(group));
      }
    for (const auto& [some, others] : groups) {
      for (const std::size_t row : some) clear(base_match_[row]);
      for (const std::size_t row : others) clear(changed_match_[row]);
    }
    add_groups(groups);
  }

  Group group_of(std::size_t match) const {
    if (match == kNone) return {};
    const RowMatch& known = matches_[match];
    return {{known.base.begin(), known.base.end()}, {known.changed.begin(), known.changed.end()}};
  }

  // The rows of the match are in another one from now on.
  void clear(std::size_t match) {
    if (match != kNone) matches_[match] = {};
  }

  struct Side {
    const SideRank& rank;
    const Indices& match;
    Indices RowMatch::*rows;
  };

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
    const std::string op = name_in_triton(side.rank.rows[row].key);
    if (side.match[row] != kNone || op.empty()) return kNone;
    const auto has_it = [&](std::size_t partner) {
      return side.rank.rows[partner].key.name.find(op) != std::string::npos;
    };
    for (std::size_t i = 0; i < other.rank.rows.size(); ++i) {
      if (!is_fused_of(other.rank.rows[i].key, op) ||
          !same_calls(side.rank.rows[row].count, other.rank.rows[i].count))
        continue;
      if (other.match[i] == kNone) return i;
      const RowMatch& known = matches_[other.match[i]];
      const Indices& partners = known.*side.rows;
      if (known.level != MatchLevel::exact &&
          std::none_of(partners.begin(), partners.end(), has_it))
        return i;
    }
    return kNone;
  }

  void match_operators(Modules modules) {
    const auto operator_of = [modules](const RowKey& key) {
      return std::tuple{key.role, key.op, module_of(key, modules)};
    };
    for (const auto& [value, bucket] : buckets(operator_of))
      if (!std::get<1>(value).empty() && !bucket.base.empty() && !bucket.changed.empty())
        add(MatchLevel::by_operator, bucket.base, bucket.changed);
  }

  const SideRank& base_;
  const SideRank& changed_;
  Indices base_match_;  // [row]: index in matches_
  Indices changed_match_;
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
