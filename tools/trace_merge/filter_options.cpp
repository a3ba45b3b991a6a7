#include "trace_merge/filter_options.h"

#include "base/error.h"
#include "base/units.h"
#include "common/did_you_mean.h"
#include "common/selection_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace traceloom {
namespace {

constexpr char kGroup[] = "What to keep";
constexpr std::size_t kMostNamed = 12;

void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values,
              const std::string& type, const std::string& help) {
  app.add_option(name, values, help)
      ->type_name(type)
      ->group(kGroup)
      ->allow_extra_args(false)
      ->take_all();
}

std::int64_t read_min_duration(const std::string& text) {
  if (text.empty()) return 0;
  const std::optional<std::int64_t> ns = parse_duration(text);
  if (!ns || *ns < 0)
    throw UsageError(fmt::format("--min-duration: '{}' is not a time (try 5us or 1.5ms)", text));
  return *ns;
}

std::vector<std::string> read_category_lists(const std::string& option,
                                             const std::vector<std::string>& lists) {
  std::vector<std::string> categories;
  for (const std::string& list : lists)
    for (std::string& category : read_categories(option, list))
      categories.push_back(std::move(category));
  return categories;
}

std::vector<NamePattern> read_patterns(const std::string& option,
                                       const std::vector<std::string>& expressions) {
  std::vector<NamePattern> patterns;
  patterns.reserve(expressions.size());
  for (const std::string& expression : expressions)
    patterns.push_back(read_pattern(option, expression));
  return patterns;
}

// Returns the categories of all events. A list of categories ("cpu_op,user") counts as several.
std::vector<std::string> known_categories(const FilterOutcome& outcome) {
  std::set<std::string> known;
  for (const std::string& list : outcome.categories)
    for (std::string& category : split_words(list)) known.insert(std::move(category));
  known.erase("");
  return {known.begin(), known.end()};
}

void add_unmet_categories(std::vector<std::string>& unmet, const std::vector<std::string>& known,
                          const std::string& option, const std::vector<std::string>& wanted) {
  for (const std::string& category : wanted) {
    if (std::binary_search(known.begin(), known.end(), category)) continue;
    const std::string advice = did_you_mean(category, known);
    const std::size_t named = std::min(known.size(), kMostNamed);
    const std::vector<std::string> some(known.begin(),
                                        known.begin() + static_cast<std::ptrdiff_t>(named));
    unmet.push_back(fmt::format("{}: no event has category '{}'{}", option, category,
                                !advice.empty() || known.empty()
                                    ? advice
                                    : fmt::format(" (there are {}{})", fmt::join(some, ", "),
                                                  named < known.size() ? ", ..." : "")));
  }
}

// "there are ranks 0 to 3".
std::string numbers(const std::string& what, const NumberRange& range) {
  return range.first == range.last
             ? fmt::format("there is {} {}", what, range.first)
             : fmt::format("there are {}s {} to {}", what, range.first, range.last);
}

void add_unmet_ranks(std::vector<std::string>& unmet, const std::vector<NumberRange>& wanted,
                     const std::vector<std::int64_t>& ranks) {
  for (const NumberRange& range : wanted) {
    if (std::any_of(ranks.begin(), ranks.end(),
                    [&](std::int64_t rank) { return is_in({range}, rank); }))
      continue;
    const std::string name = range.first == range.last
                                 ? fmt::format("rank {}", range.first)
                                 : fmt::format("ranks {} to {}", range.first, range.last);
    unmet.push_back(fmt::format("--ranks: no input belongs to {} ({})", name,
                                numbers("rank", {ranks.front(), ranks.back()})));
  }
}

}  // namespace

void add_filter_options(CLI::App& app, FilterOptions& options) {
  app.add_option("--ranks", options.ranks,
                 "Keep only these ranks: 0,4-7\n"
                 "The clocks of all ranks are used to align these.")
      ->type_name("LIST")
      ->group(kGroup);
  app.add_option("--time", options.time,
                 "Keep events that begin in this time: 1.5s:2s, :1s\n"
                 "Times count from the first event of the whole merge. Either end may be left out.")
      ->type_name("FROM:TO")
      ->group(kGroup);
  app.add_option("--steps", options.steps,
                 "Keep events that begin in these steps: 3:5, 3\n"
                 "Both ends are included, and either may be left out. Steps are ProfilerStep#N of "
                 "torch, else batches of Composer, of the event's own rank.")
      ->type_name("FIRST:LAST")
      ->group(kGroup);
  add_list(app, "--category", options.categories, "LIST",
           "Keep events of these categories\n"
           "'(none)' stands for events without one. May be repeated.");
  add_list(app, "--exclude-category", options.excluded_categories, "LIST",
           "Drop events of these categories\nMay be repeated.");
  add_list(app, "--name", options.names, "REGEX",
           "Keep events whose name contains a match\n"
           "May be repeated: a match of any of them is enough.");
  add_list(app, "--exclude-name", options.excluded_names, "REGEX",
           "Drop events whose name contains a match\nMay be repeated.");
  app.add_option("--min-duration", options.min_duration,
                 "Drop slices that are shorter: 5us\nEvents that are no slices are kept.")
      ->type_name("TIME")
      ->group(kGroup);
}

MergeFilter read_filter(const FilterOptions& options) {
  MergeFilter filter;
  filter.ranks = read_ranks("--ranks", options.ranks);
  filter.time = read_time("--time", options.time);
  filter.steps = read_steps("--steps", options.steps);
  filter.labels.categories = read_category_lists("--category", options.categories);
  filter.labels.excluded_categories =
      read_category_lists("--exclude-category", options.excluded_categories);
  filter.labels.names = read_patterns("--name", options.names);
  filter.labels.excluded_names = read_patterns("--exclude-name", options.excluded_names);
  filter.min_duration_ns = read_min_duration(options.min_duration);
  return filter;
}

std::vector<std::string> unmet_wishes(const MergeFilter& filter, const FilterOutcome& outcome) {
  std::vector<std::string> unmet;
  if (!outcome.ranks.empty()) add_unmet_ranks(unmet, filter.ranks, outcome.ranks);
  const std::vector<std::string> known = known_categories(outcome);
  add_unmet_categories(unmet, known, "--category", filter.labels.categories);
  add_unmet_categories(unmet, known, "--exclude-category", filter.labels.excluded_categories);
  return unmet;
}

std::string explain_nothing_left(const MergeFilter& filter, const MergeSummary& summary) {
  std::vector<std::string> reasons = unmet_wishes(filter, *summary.filter);
  if (filter.time && filter.time->from_ns && *filter.time->from_ns > summary.filter->last_ns)
    reasons.push_back(fmt::format("--time: the last event begins at {}",
                                  format_duration(summary.filter->last_ns)));
  const std::optional<NumberRange>& steps = summary.filter->steps;
  if (filter.steps && steps &&
      ((filter.steps->first && *filter.steps->first > steps->last) ||
       (filter.steps->last && *filter.steps->last < steps->first)))
    reasons.push_back(fmt::format("--steps: {}", numbers("step", *steps)));
  return fmt::format(
      "none of {} events is kept, so nothing is written; {}", format_count(summary.filtered),
      reasons.empty() ? "relax one of the filters" : fmt::format("{}", fmt::join(reasons, "; ")));
}

}  // namespace traceloom
