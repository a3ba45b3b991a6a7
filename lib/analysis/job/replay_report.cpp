#include "analysis/job/job_reports.h"
#include "analysis/replay/what_if.h"
#include "analysis/verdict/verdict_words.h"
#include "base/arithmetic.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace traceloom {
namespace {

using Kind = Repair::Kind;
using enum ColumnKind;
using enum Readers;

constexpr double kWorthShowing = 0.001;
constexpr std::size_t kMostRows = 12;

Table gain_table(const WhatIf& found, const std::vector<Gain>& gains, bool has_alone) {
  ColumnsOf<Gain> columns{{"gain_ns", "Gain/step", duration, &Gain::gain_ns},
                          {"least_ns", "Least", duration, &Gain::least_ns},
                          {"most_ns", "Most", duration, &Gain::most_ns},
                          {"gain_share", "of step", share,
                           [&](const Gain& gain) { return ratio(gain.gain_ns, found.step_ns); }},
                          {"step_ns", "Step then", duration, some, &Gain::step_ns}};
  if (has_alone)
    columns.push_back({"best_alone_ns", "One alone", duration,
                       [&](const Gain& gain) { return found.best_alone_ns(gain); }});
  columns.push_back({"what", "What if", text, &Gain::words});
  columns.push_back({"set", "--set", text, programs, &Gain::set});
  return make_table(gains, columns);
}

struct PathRow {
  std::string_view what;
  std::int64_t ns;
};

Table path_table(const WhatIf& found) {
  std::int64_t all_ns = 0;
  std::vector<PathRow> rows;
  for (const PathClass what : kAllOf<PathClass>) {
    const std::int64_t ns = found.path_ns[what];
    add_to(all_ns, ns);
    if (ns > 0) rows.push_back({to_string(what), ns / static_cast<std::int64_t>(found.steps)});
  }
  std::ranges::stable_sort(rows, std::greater(), &PathRow::ns);
  const std::int64_t step_ns = all_ns / static_cast<std::int64_t>(found.steps);
  return make_table(rows, ColumnsOf<PathRow>{{"class", "On", text, &PathRow::what},
                                             {"ns", "Time/step", duration, &PathRow::ns},
                                             {"share", "Share", share, [&](const PathRow& row) {
                                                return ratio(row.ns, step_ns);
                                              }}});
}

std::string headline(const WhatIf& found, std::size_t ranks) {
  if (!found.refusal.empty()) return "Cannot tell: " + found.refusal + ".";
  if (!found.asked.empty()) return "If changed: " + found.words(found.asked.front()) + ".";
  const std::string most =
      found.singles.empty() ? "" : "; the most of all: " + found.words(found.singles.front());
  if (const std::string doubt = found.doubt(); !doubt.empty())
    return fmt::format("Cannot tell what holds up the job: {}{}.", doubt, most);
  if (const std::vector<Gain> odd = found.odd(); !odd.empty())
    return fmt::format("The most by {}: {}.",
                       odd.front().repairs.size() == 1 ? "one repair" : "several repairs",
                       found.words(odd.front()));
  if (ranks == 1 && !found.singles.empty())
    return fmt::format("The most of all: {}.", found.words(found.singles.front()));
  return fmt::format(
      "No rank, stage, link or group, and no two of them, steadily hold up the job by 1 % of its "
      "step beyond those like them{}.",
      most);
}

}  // namespace

Report replay_report(const Run& run, const WhatIfRequest& request) {
  const WhatIf found = request.set.empty() ? find_job_gains(run) : find_what_if(run, request);
  Report report("what-if", run);
  report.headline.push_back(headline(found, run.ranks.size()));
  report.is_unknown = !request.set.empty() && !found.refusal.empty();
  report.values.emplace_back("answer", json_object([&](JsonWriter& json) {
                               json.member("refusal", found.refusal);
                               json.member("steps", found.steps);
                               json.member("step_ns", found.step_ns);
                               json.member("replayed_ns", found.replayed_ns);
                               json.member("coverage", found.coverage);
                               json.member("launches_share", found.launches_share);
                               json.member("unexplained_ns", found.unexplained_ns);
                             }));
  if (!found.refusal.empty()) return report;
  std::vector<Gain> gains = request.set.empty() ? found.singles : found.asked;
  std::size_t shown = 0;
  while (shown < gains.size() && ratio(gains[shown].gain_ns, found.step_ns) >= kWorthShowing)
    ++shown;
  report.tables.push_back({"rows", "", gain_table(found, gains, false)});
  report.tables.back().most_for_people = std::clamp<std::size_t>(shown, 1, kMostRows);
  if (!found.pairs.empty()) {
    report.tables.push_back({"pairs", "Repairs together", gain_table(found, found.pairs, true)});
    report.tables.back().most_for_people = 3;
  }
  report.tables.push_back({"path", "The longest way through a mean step", path_table(found)});
  report.notes.push_back(
      fmt::format("replayed {}: {} a step, recorded {}; {}", count_of(found.steps, "step"),
                  format_duration(found.replayed_ns), format_duration(found.step_ns),
                  found.coverage ? fmt::format("the ranks of {:.1f} % of the time in communication "
                                               "are known",
                                               100 * *found.coverage)
                                 : "nobody communicates in it"));
  if (ratio(found.unexplained_ns, found.step_ns) >= kWorthNaming)
    report.notes.push_back(
        fmt::format("{} a step and rank in front of device work have no known reason, and stay as "
                    "they are: gains may be larger",
                    format_duration(found.unexplained_ns)));
  if (found.launches_share < kLeastCoverage)
    report.notes.push_back(
        fmt::format("the launches of {:.1f} % of the device work are not known: what the host and "
                    "waits for data hold up is not in these gains",
                    100 * (1 - found.launches_share)));
  if (request.set.empty()) report.notes.emplace_back("gains overlap: they do not add up");
  return report;
}

}  // namespace traceloom
