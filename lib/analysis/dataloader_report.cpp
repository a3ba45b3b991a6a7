#include "analysis/dataloader_report.h"

#include "analysis/percentile.h"
#include "analysis/steps_report.h"
#include "analysis/stragglers_report.h"
#include "base/saturating.h"
#include "output/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace traceloom {
namespace {

constexpr double kTbPluginShare = 0.05;

std::string_view to_text(LoaderAnswer answer) {
  static constexpr std::string_view kTexts[] = {"no", "yes", "unknown"};
  return kTexts[static_cast<std::size_t>(answer)];
}

// Without the first wait, which is told by itself, where there are others.
std::vector<std::int64_t> later_waits(const LoaderRow& row) {
  if (row.step_waits_ns.size() < 2) return row.step_waits_ns;
  return {row.step_waits_ns.begin() + 1, row.step_waits_ns.end()};
}

void add_row(Table& table, const LoaderRow& row) {
  const bool known = row.instrumented && row.steps > 0;
  const std::vector<std::int64_t> later = later_waits(row);
  const auto if_known = [&](const Cell& cell) { return known ? cell : Cell{}; };
  table.add_row({row.rank, row.epoch == kNoId ? Cell{} : Cell{row.epoch}, row.steps,
                 if_known(row.wait_ns), if_known(row.share()), if_known(row.exposed_share()),
                 row.first_ns ? Cell{*row.first_ns} : Cell{}, if_known(percentile(later, 50)),
                 if_known(percentile(later, 99)), if_known(row.between_ns),
                 std::int64_t{row.instrumented ? 1 : 0},
                 if_known(std::string(xla_class(row.exposed_share()))),
                 if_known(std::string(to_text(composer_rule(row))))});
}

Table rows_table(const std::vector<LoaderRow>& rows) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"epoch", "Epoch", ColumnKind::count},
               {"steps", "Steps", ColumnKind::count},
               {"wait_ns", "Wait", ColumnKind::duration},
               {"share", "Share", ColumnKind::share},
               {"exposed_share", "Exposed", ColumnKind::share},
               {"first_ns", "First", ColumnKind::duration, Readers::some},
               {"p50_ns", "Med", ColumnKind::duration, Readers::most},
               {"p99_ns", "P99", ColumnKind::duration, Readers::some},
               {"between_ns", "Between", ColumnKind::duration, Readers::some},
               {"instrumented", "Instr.", ColumnKind::count, Readers::few},
               {"class", "XLA's class", ColumnKind::text, Readers::most},
               {"composer_rule", "Composer", ColumnKind::text, Readers::few}});
  for (const LoaderRow& row : rows) add_row(table, row);
  return table;
}

// Each kind of loader by its spans, those outside of steps too.
Table iterator_table(const Run& run) {
  Table table({{"rank", "Rank", ColumnKind::count},
               {"name", "Iterator", ColumnKind::text},
               {"count", "Count", ColumnKind::count},
               {"total_ns", "Total", ColumnKind::duration},
               {"mean_ns", "Avg", ColumnKind::duration},
               {"p50_ns", "Med", ColumnKind::duration},
               {"p99_ns", "P99", ColumnKind::duration},
               {"max_ns", "Max", ColumnKind::duration}});
  for (const RankEvents& rank : run.ranks) {
    std::map<std::string_view, std::vector<std::int64_t>> iterators;
    for (const HostSpan& span : find_loader_spans(rank))
      iterators[run.labels.name(span.label)].push_back(span.end_ns - span.start_ns);
    for (const auto& [name, times] : iterators) {
      std::int64_t total = 0;
      for (const std::int64_t ns : times) add_to(total, ns);
      table.add_row({rank.rank, std::string(name), static_cast<std::int64_t>(times.size()), total,
                     mean(times), percentile(times, 50), percentile(times, 99),
                     percentile(times, 100)});
    }
  }
  return table;
}

LoaderAnswer any_by_composer(const std::vector<LoaderRow>& rows) {
  LoaderAnswer answer = LoaderAnswer::unknown;
  for (const LoaderRow& row : rows) {
    const LoaderAnswer of_row = composer_rule(row);
    if (of_row == LoaderAnswer::yes) return of_row;
    if (of_row == LoaderAnswer::no) answer = of_row;
  }
  return answer;
}

void add_verdicts(Report& report, const LoaderJob& job, const std::vector<LoaderRow>& rows) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("share");
  job.instrumented ? json.value(job.share) : json.null();
  json.key("rank");
  json.value(job.rank);
  json.key("instrumented");
  json.value(job.instrumented);
  json.end_object();
  report.values.emplace_back("job", text);

  std::string classes;
  JsonWriter verdicts(classes);
  verdicts.begin_object();
  verdicts.key("xla");
  verdicts.value(job.instrumented ? xla_class(job.share) : "not instrumented");
  verdicts.key("tb_plugin");
  verdicts.value(!job.instrumented            ? "not instrumented"
                 : job.share > kTbPluginShare ? "input-bound"
                                              : "not input-bound");
  verdicts.key("composer");
  const LoaderAnswer composer = any_by_composer(rows);
  verdicts.value(composer == LoaderAnswer::yes  ? "bottleneck"
                 : composer == LoaderAnswer::no ? "no bottleneck"
                                                : "unknown: it needs 10 steps");
  verdicts.end_object();
  report.values.emplace_back("classes", classes);
}

std::string headline_of(const LoaderJob& job, const Straggler& straggler) {
  if (!job.instrumented)
    return "Not instrumented: no spans of a data loader in these traces, which is not a wait of 0.";
  std::string text = fmt::format("Input wait: {:.1f} % of the step is exposed → {}",
                                 job.share * 100, xla_class(job.share));
  if (straggler.cause == StragglerCause::dataloader)
    text += fmt::format("; the others wait for the loader of rank {}", *straggler.rank);
  return text + ".";
}

void note_loaders(const Run& run, const std::vector<LoaderRow>& rows, Report& report) {
  const bool any =
      std::any_of(rows.begin(), rows.end(), [](const LoaderRow& row) { return row.instrumented; });
  for (const LoaderRow& row : rows)
    if (any && !row.instrumented)
      report.notes.push_back(
          fmt::format("rank {}: not instrumented, which is not a wait of 0", row.rank));
  for (const RankEvents& rank : run.ranks)
    if (!rank.steps.probes.empty())
      report.notes.push_back(fmt::format(
          "rank {}: {} waits that no batch followed (the end of an epoch, or a batch that was not "
          "recorded) are left out",
          rank.rank, rank.steps.probes.size()));
}

}  // namespace

std::string_view xla_class(double share) {
  if (share >= 0.20) return "highly input-bound";
  return share >= 0.05 ? "moderately input-bound" : "not input-bound";
}

Report dataloader_report(const Run& run) {
  const std::vector<RankRoles> roles = find_all_roles(run);
  const RankWaits waits = find_waits(run, roles);
  const Straggler straggler = find_straggler(run, roles, waits);
  const std::vector<LoaderRow> rows = find_loader_rows(run, roles);
  LoaderJob job = judge_loader(run, roles, waits);
  if (straggler.cause == StragglerCause::dataloader) job.rank = straggler.rank;
  Report report("dataloader", run);
  report.headline.push_back(headline_of(job, straggler));
  add_verdicts(report, job, rows);
  report.tables.push_back({"rows", "", rows_table(rows)});
  report.tables.push_back({"iterators", "Iterators", iterator_table(run)});
  note_loaders(run, rows, report);
  note_missing(run, report);
  return report;
}

}  // namespace traceloom
