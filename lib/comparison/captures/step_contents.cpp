#include "analysis/work/work_names.h"
#include "base/ascii.h"
#include "comparison/captures/capture.h"
#include "per_rank/per_rank.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
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

// The names of work, and the steps in which such work began, ascending.
using StepsOfNames = std::map<std::string, std::vector<std::uint32_t>>;

// Collects the steps of names on one rank.
class NameCollector {
 public:
  // `steps` are ascending by key.
  NameCollector(const RankRoles& rank, const std::vector<StepKey>& steps) {
    for (const auto& [key, time] : times_of(rank, steps)) {
      const auto place = std::lower_bound(steps.begin(), steps.end(), key);
      windows_.emplace_back(time, static_cast<std::uint32_t>(place - steps.begin()));
    }
    std::ranges::sort(windows_, {}, [](const auto& window) { return window.first.from_ns; });
  }

  void add(std::uint32_t label, std::int64_t start_ns) {
    const auto next = std::ranges::upper_bound(
        windows_, start_ns, {}, [](const auto& window) { return window.first.from_ns; });
    if (next != windows_.begin() && start_ns < std::prev(next)->first.to_ns)
      found_.emplace_back(label, std::prev(next)->second);
  }

  StepsOfNames names(const Labels& labels) {
    std::ranges::sort(found_);
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    StepsOfNames names;
    for (auto one = found_.begin(); one != found_.end();) {
      std::vector<std::uint32_t>& steps = names[canonical_name(labels.name(one->first))];
      const std::uint32_t label = one->first;
      for (; one != found_.end() && one->first == label; ++one) steps.push_back(one->second);
    }
    return names;
  }

 private:
  std::vector<std::pair<Interval, std::uint32_t>> windows_;     // with their steps
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found_;  // labels and steps
};

StepsOfNames names_on(const Run& run, std::size_t index, const RankRoles& roles,
                      const std::vector<StepKey>& steps) {
  const RankEvents& rank = run.ranks[index];
  NameCollector names(roles, steps);
  for_each_role_span(
      run, rank,
      [&](Role role, const HostSpan& span) {
        if (role == Role::communication || (role == Role::cpu && !rank.has_devices()))
          names.add(span.label, span.start_ns);
      },
      [&](Role role, const DeviceSpan& span) {
        if (role == Role::kernel || role == Role::communication)
          names.add(span.label, span.start_ns);
      });
  return names.names(run.labels);
}

// Joins the contents that are left to the most frequent ones.
StepContents keep_most_frequent(const StepContents& all) {
  std::vector<std::size_t> steps(all.count());
  for (std::size_t i = 1; i < all.of_step.size(); ++i) ++steps[all.of_step[i]];
  std::vector<std::uint32_t> order(all.count());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater(), [&](std::uint32_t one) { return steps[one]; });
  std::size_t others = 0;
  for (std::size_t i = kMostContents; i < order.size(); ++i) others += steps[order[i]];
  const std::size_t most = kMostContents + (30 * others > all.of_step.size() ? 1 : 0);
  while (!order.empty() && (order.size() > most || steps[order.back()] == 0)) order.pop_back();
  std::ranges::sort(order);
  StepContents kept;
  for (const std::uint32_t one : order) kept.different.push_back(all.different[one]);
  std::vector<std::uint32_t> number;
  for (const StepContent& one : all.different)
    number.push_back(nearest_content(one, kept.different));
  for (const std::uint32_t one : all.of_step) kept.of_step.push_back(number[one]);
  return kept;
}

}  // namespace

double overlap(const StepContent& one, const StepContent& other) {
  StepContent common;
  std::ranges::set_intersection(one, other, std::back_inserter(common));
  const std::size_t all = one.size() + other.size() - common.size();
  return all == 0 ? 1 : static_cast<double>(common.size()) / static_cast<double>(all);
}

std::uint32_t nearest_content(const StepContent& one, const std::vector<StepContent>& others) {
  const auto found = std::ranges::max_element(
      others, {}, [&](const StepContent& other) { return overlap(one, other); });
  return static_cast<std::uint32_t>(found - others.begin());
}

StepContents find_contents(const Run& run, const std::vector<RankRoles>& roles,
                           const std::vector<StepKey>& steps) {
  std::vector<std::set<std::string>> names(steps.size());
  for (const StepsOfNames& rank : per_rank<StepsOfNames>(
           run, [&](std::size_t index) { return names_on(run, index, roles[index], steps); }))
    for (const auto& [name, of_name] : rank)
      for (const std::uint32_t step : of_name) names[step].insert(name);
  StepContents contents;
  std::map<StepContent, std::uint32_t> known;
  for (const std::set<std::string>& of_step : names) {
    const auto [place, is_new] =
        known.try_emplace({of_step.begin(), of_step.end()}, contents.count());
    if (is_new) contents.different.push_back(place->first);
    contents.of_step.push_back(place->second);
  }
  return keep_most_frequent(contents);
}

std::vector<std::pair<StepKey, Interval>> times_of(const RankRoles& rank,
                                                   const std::vector<StepKey>& steps) {
  std::map<StepKey, Interval> times;
  for (const StepRoles& step : rank.steps) {
    const StepKey key = key_of(step.step);
    if (!step.step.counted || !std::binary_search(steps.begin(), steps.end(), key)) continue;
    Interval& time = times[key];
    if (length_ns(step.step.time) > length_ns(time)) time = step.step.time;
  }
  return {times.begin(), times.end()};
}

}  // namespace traceloom
