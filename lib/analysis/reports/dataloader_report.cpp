#include "analysis/findings/straggler.h"
#include "analysis/numbers.h"
#include "analysis/reports/reports.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "per_rank/per_rank.h"
#include "table/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace traceloom {
namespace {

constexpr std::string_view kLone = "unknown: a single batch";

std::string_view to_text(LoaderAnswer answer) {
  static constexpr std::string_view kTexts[] = {"unknown", "no", "yes"};
  return kTexts[static_cast<std::size_t>(answer)];
}

std::string_view xla_class(double share) {
  if (share >= 0.20) return "highly input-bound";
  return share >= 0.05 ? "moderately input-bound" : "not input-bound";
}

// Returns the waits without the first one, which is reported separately, if there are others.
std::vector<std::int64_t> later_waits(const LoaderRow& row) {
  if (row.step_waits_ns.size() < 2) return row.step_waits_ns;
  return {row.step_waits_ns.begin() + 1, row.step_waits_ns.end()};
}

Table rows_table(const std::vector<LoaderRow>& rows, bool is_lone) {
  using enum ColumnKind;
  using enum Readers;
  using Row = LoaderRow;
  const auto is_known = [](auto& of) { return of.instrumented && of.steps > 0; };
  const auto if_known = [is_known](auto value) {
    return [=](auto& of) { return is_known(of) ? to_cell(value_in(value, of)) : Cell{}; };
  };
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},
      {"epoch", "Epoch", count, [](auto& of) { return cell_if(of.epoch != kNoId, of.epoch); }},
      {"steps", "Steps", count, &Row::steps},
      {"wait_ns", "Wait", duration, if_known(&Row::wait_ns)},
      {"share", "Share", share, if_known(&Row::share)},
      {"exposed_share", "Exposed", share, if_known(&Row::exposed_share)},
      {"first_ns", "First", duration, some, &Row::first_ns},
      {"p50_ns", "Med", duration, most,
       if_known([](auto& of) { return percentile(later_waits(of), 50); })},
      {"p99_ns", "P99", duration, some,
       if_known([](auto& of) { return percentile(later_waits(of), 99); })},
      {"between_ns", "Between", duration, some, if_known(&Row::between_ns)},
      {"instrumented", "Instr.", flag, few, &Row::instrumented},
      {"class", "XLA's class", text, most,
       if_known([=](auto& of) { return is_lone ? kLone : xla_class(of.exposed_share()); })},
      {"composer_rule", "Composer", text, few,
       if_known([](auto& of) { return to_text(composer_rule(of)); })},
  };
  return make_table(rows, columns);
}

struct IteratorRow : TimeStats {
  std::int64_t rank = 0;
  std::string_view name;
};

// Has a row for each kind of loader, with its spans, including those outside of steps.
Table iterator_table(const Run& run) {
  using enum ColumnKind;
  using Row = IteratorRow;
  const ColumnsOf<Row> columns{
      {"rank", "Rank", count, &Row::rank},         {"name", "Iterator", text, &Row::name},
      {"count", "Count", count, &Row::count},      {"total_ns", "Total", duration, &Row::total_ns},
      {"mean_ns", "Avg", duration, &Row::mean_ns}, {"p50_ns", "Med", duration, &Row::p50_ns},
      {"p99_ns", "P99", duration, &Row::p99_ns},   {"max_ns", "Max", duration, &Row::max_ns},
  };
  Table table = empty_table(columns);
  const auto find = [&](std::size_t rank) { return find_loader_spans(run.ranks[rank]); };
  const auto add = [&](std::size_t rank, const std::vector<HostSpan>& spans) {
    std::map<std::string_view, std::vector<std::int64_t>> iterators;
    for (const HostSpan& span : spans)
      iterators[run.labels.name(span.label)].push_back(span.end_ns - span.start_ns);
    for (auto& [name, times] : iterators)
      add_row(table, columns, {time_stats(times), run.ranks[rank].rank, name});
  };
  for_each_rank<std::vector<HostSpan>>(run, all_ranks(run), find, add);
  return table;
}

// The classes that other tools would give the job, or why there is none.
struct LoaderRules {
  std::string_view xla;
  std::string_view tb_plugin;
  std::string_view composer;
};

LoaderRules apply_rules(const LoaderJob& job, bool is_lone, double share,
                        const std::vector<LoaderRow>& rows) {
  constexpr std::string_view kUnknown = "not instrumented";
  if (!job.instrumented) return {kUnknown, kUnknown, kUnknown};
  if (is_lone) return {kLone, kLone, kLone};
  constexpr const char* kWords[] = {"unknown: it needs 10 steps", "no bottleneck", "bottleneck"};
  LoaderAnswer composer = LoaderAnswer::unknown;
  for (const LoaderRow& row : rows) composer = std::max(composer, composer_rule(row));
  return {xla_class(share), share > 0.05 ? "input-bound" : "not input-bound",
          kWords[static_cast<std::size_t>(composer)]};
}

// "of" describes the steps of the job's share, to the nanosecond, and the late data, which is a
// different figure.
void add_verdicts(Report& report, const LoaderJob& job, const StepShare& exposed,
                  const LoaderRules& rules) {
  const auto share = job.instrumented ? std::optional(exposed.share()) : std::nullopt;
  report.values.emplace_back(
      "job", json_object("share", share, "rank", job.rank, "instrumented", job.instrumented));
  report.values.emplace_back("of", json_object([&](JsonWriter& json) {
                               write_owner(json, exposed.of);
                               json.member("exposed_ns", exposed.ns);
                               json.member("of_ns", exposed.of_ns);
                               json.member("late_ns_per_step", job.late_ns);
                             }));
  report.values.emplace_back("classes", json_object("xla", rules.xla, "tb_plugin", rules.tb_plugin,
                                                    "composer", rules.composer));
}

std::string headline_of(const LoaderJob& job, bool is_lone, const StepShare& exposed) {
  if (!job.instrumented)
    return "Not instrumented: no spans of a data loader in these traces, which is not a wait of 0.";
  if (is_lone)
    return fmt::format("Input wait: {} for a single batch, from which no share of a step follows.",
                       format_duration(exposed.ns));
  std::string text =
      fmt::format("Input wait: {:.1f} % of {} is exposed → {}", exposed.share() * 100,
                  exposed.of.text(), xla_class(exposed.share()));
  if (job.is_mostly_first())
    text += fmt::format("; {:.0f} % of that is the first wait", job.first_share * 100);
  if (job.rank && exposed.of.rank)
    text += fmt::format("; the others wait for the loader of rank {}", *job.rank);
  return text + ".";
}

void note_loaders(const Run& run, const std::vector<LoaderRow>& rows, Report& report) {
  const bool any = std::ranges::any_of(rows, [](const LoaderRow& row) { return row.instrumented; });
  RankNotes notes;
  for (const LoaderRow& row : rows)
    if (any && !row.instrumented) notes.add(row.rank, "not instrumented, which is not a wait of 0");
  for (const RankEvents& rank : run.ranks)
    if (const std::size_t probes = rank.steps.probes.size(); probes > 0)
      notes.add(rank.rank,
                fmt::format("{} that no batch followed (the end of an epoch, or a batch that was "
                            "not recorded) {} left out: {}",
                            count_of(probes, "wait"), plural(probes, "is", "are"),
                            format_duration(total_ns(rank.steps.probes))));
  notes.append_to(report);
}

}  // namespace

Report dataloader_report(const Run& run) {
  const std::vector<RankRoles> roles = find_main_roles(run);
  const RankWaits waits = find_waits(run, roles);
  const Straggler straggler = find_straggler(run, roles, waits);
  const std::vector<LoaderRow> rows = find_loader_rows(run, roles);
  const LoaderJob job = judge_loader(run, roles, waits, straggler);
  const StepBasis basis = choose_basis(run, roles, straggler, job);
  const StepShare exposed = basis.part({Role::dataloader});
  const bool is_lone = exposed.ns > 0 && is_lone_batch(run, basis);
  Report report("dataloader", run);
  report.headline.push_back(headline_of(job, is_lone, exposed));
  const LoaderRules rules = apply_rules(job, is_lone, exposed.share(), rows);
  add_verdicts(report, job, exposed, rules);
  if (job.instrumented && !is_lone)
    report.headline.push_back(fmt::format("XLA (5, 20 %): {}; tb_plugin (5 %): {}; Composer: {}.",
                                          rules.xla, rules.tb_plugin, rules.composer));
  report.tables.push_back({"rows", "", rows_table(rows, is_lone)});
  report.tables.push_back({"iterators", "Iterators", iterator_table(run)});
  note_loaders(run, rows, report);
  note_phase(run, roles, report);
  note_missing(run, report);
  return report;
}

}  // namespace traceloom
