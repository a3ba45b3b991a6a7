// trace-stats compare: whether a new version is slower than its base, and where.
#include "base/problems.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "common/run_tool.h"
#include "common/terminal.h"
#include "comparison/comparison.h"
#include "trace_stats/commands.h"
#include "trace_stats/read_captures.h"
#include "trace_stats/write_output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// The forms that only a comparison has.
enum class CiForm : std::uint8_t { none, junit, github };

// The options as they were typed.
struct CompareSettings : CommonOptions {
  std::vector<std::string> sides;  // BASE and NEW
  std::vector<std::string> base;
  std::vector<std::string> changed;
  std::vector<std::string> history;
  std::vector<std::string> confirm;  // BASE and NEW of a second look
  std::vector<std::string> allowed;
  CompareOptions compare;
  bool by_run = false;
  bool has_gate = false;
  bool passes_inconclusive = false;
  std::int64_t top = 20;
  TimeUnit unit = TimeUnit::automatic;
  TableFormat format = TableFormat::text;
  CiForm ci_form = CiForm::none;
};

double read_percent(const std::string& option, const std::string& text) {
  double percent = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, percent);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  if (error != std::errc{} || unit != "%" || !(percent > 0 && percent <= 100))
    throw UsageError(
        fmt::format("{}: '{}' is not a share above 0% and up to 100% (try 2%)", option, text));
  return percent / 100;
}

// Reads the words after --gate: none, a condition, or a file of conditions.
void read_gates(CompareSettings& options, const std::vector<std::string>& words) {
  const std::string option = "--gate";
  options.has_gate = true;
  for (const std::string& word : with_gate_files(words)) {
    if (word.empty() || word == "true") continue;  // no word was given
    if (word.find_first_of("<>=") == std::string::npos)
      throw UsageError(
          fmt::format("{0}: '{1}' is no condition such as 'kernel.time<=+10%'; put "
                      "paths before {0}, and '@{1}' reads a file of conditions",
                      option, word));
    options.compare.gates.push_back(read_metric_gate(option, word));
  }
}

ExitCode exit_code(const CompareSettings& options, ChangeKind kind) {
  if (kind == ChangeKind::incomparable) return ExitCode::trouble;
  if (!options.has_gate) return ExitCode::done;
  if (kind == ChangeKind::regression) return ExitCode::no;
  if (kind == ChangeKind::inconclusive && !options.passes_inconclusive)
    return ExitCode::inconclusive;
  return ExitCode::done;
}

void take_sides(CompareSettings& options) {
  if (options.sides.size() == 2 && options.base.empty() && options.changed.empty()) {
    options.base = {options.sides[0]};
    options.changed = {options.sides[1]};
  } else if (!options.sides.empty() || options.base.empty() || options.changed.empty()) {
    throw UsageError(
        "name two sides: compare BASE NEW, or --base PATH... --new PATH... for several paths a "
        "side");
  }
  if (options.confirm.size() == 1)
    throw UsageError(
        "--confirm needs two paths, further captures of the base and of the new version: --confirm "
        "base-again/ new-again/");
  if (options.top < 0)
    throw UsageError(fmt::format("--top: {} is not a number of rows", options.top));
  const JudgeOptions& judge = options.compare.judge;
  if (judge.alpha >= 0.5) throw UsageError("--alpha: the chance of a false alarm is below 50%");
  if (judge.floor > judge.limit)
    throw UsageError(
        "--floor is above --limit, so that a change between them would have no verdict");
  const std::vector<std::string> known(kForbidding.begin(), kForbidding.end());
  for (const std::string& key : options.allowed) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      refuse_word("--allow", key, known);
    options.compare.allowed.insert(key);
  }
}

// GitHub shows the file that this variable names beside the job.
void append_to_step_summary(const Report& report) {
  const char* const path = std::getenv("GITHUB_STEP_SUMMARY");
  if (path == nullptr || *path == '\0') return;
  errno = 0;
  std::ofstream file(path, std::ios::app);
  file << pull_request_comment(report);
  if (!file.flush())
    throw system_error(fmt::format("GITHUB_STEP_SUMMARY: {}", path), errno == 0 ? EIO : errno);
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string rendered(const CompareSettings& options, const Comparison& found, Report report) {
  if (is_for_people(options.format) && options.top > 0) {
    const auto top = static_cast<std::size_t>(options.top);
    report.tables.front().table.cut_to(top);
    keep_changed_ranks(report, top);
  }
  if (options.ci_form == CiForm::github) {
    append_to_step_summary(report);
    return github_annotations(options.compare, found, report);
  }
  if (options.ci_form == CiForm::junit)
    return junit_report(options.compare, found, report, options.passes_inconclusive,
                        {host_name(), std::time(nullptr)});
  if (options.format == TableFormat::md) return pull_request_comment(report);
  TextStyle style = text_style(options.output, options.wide);
  style.csv_safe = options.csv_safe;
  if (!std::exchange(style.cut_names, true)) style.cut_width = kLogWidth;
  return render_report(report, options.format, style);
}

ExitCode run_compare(CompareSettings& options) {
  take_sides(options);
  CaptureReader reader({options.output, options.threads, options.keep_going,
                        needs_memory(options.compare.gates), options.verbosity});
  ComparedSides sides = reader.read_sides(options.base, options.changed);
  sides.is_by_run |= options.by_run;
  if (sides.has_runs() && (!options.history.empty() || !options.confirm.empty()))
    throw UsageError(
        "--history and --confirm do not go with runs: captures of another version or of one more "
        "day show nothing of the noise between runs");
  for (const std::string& argument : with_baselines_of_folders(options.history)) {
    SideCaptures version = reader.read("history", {argument});
    for (std::vector<Capture>& run : version.earlier_runs) sides.history.push_back(std::move(run));
    sides.history.push_back(std::move(version.captures));
  }
  if (!options.confirm.empty()) {
    sides.base_again = reader.read("base", {options.confirm[0]}).captures;
    sides.changed_again = reader.read("new", {options.confirm[1]}).captures;
  }
  if (!tool_team().is_first()) return ExitCode::done;
  const Comparison found = compare(sides, options.compare);
  Report report = compare_report(sides, options.compare, found);
  for (ReportTable& part : report.tables) part.table.show_in(options.unit);
  const bool for_people = options.ci_form == CiForm::none && is_for_people(options.format);
  write_output(options.output, rendered(options, found, report), for_people);
  const ExitCode code = exit_code(options, found.kind);
  // The log of a job has it even if the answer itself goes to /dev/null.
  if (options.has_gate && code != ExitCode::done)
    say(kToolName, Tone::note, "--gate: " + report.headline.front());
  return code == ExitCode::done && reader.has_loss() && options.strict ? ExitCode::no : code;
}

void add_sides(CLI::App& command, CompareSettings& options) {
  command
      .add_option("SIDES", options.sides, "Captures of the base and of the new version: BASE NEW")
      ->type_name("")
      ->expected(0, -1);
  command.add_option("--base", options.base, "Captures of the base, more than one path")
      ->type_name("PATH");
  command.add_option("--new", options.changed, "Captures of the new version, more than one path")
      ->type_name("PATH");
  command
      .add_option("--history", options.history,
                  "Further captures of one older version, for the noise alone")
      ->type_name("PATH");
  command.add_flag("--by-run", options.by_run, "Each side is one run, of a day of its own");
  command
      .add_option("--confirm", options.confirm,
                  "Further captures of both sides, for a second look if the first leaves a doubt")
      ->type_name("BASE NEW")
      ->expected(1, 2);  // take_sides() explains one
  command
      .add_option("--allow", options.allowed,
                  "Compare although this differs: ranks, world-size, devices, shapes")
      ->type_name("DIFFERENCE")
      ->delimiter(',');
}

void add_percent(CLI::App& command, const std::string& name, const std::string& help,
                 const std::string& initial, const std::function<void(double)>& set) {
  auto* const option =
      command
          .add_option_function<std::string>(
              name, [name, set](const std::string& text) { set(read_percent(name, text)); }, help)
          ->type_name("N%");
  if (!initial.empty()) option->default_str(initial);
}

void add_gate(CLI::App& command, CompareSettings& options) {
  JudgeOptions& judge = options.compare.judge;
  add_percent(command, "--floor", "A smaller change never matters", "2%",
              [&judge](double share) { judge.floor = share; });
  add_percent(command, "--limit", "A change that must not slip through", "5%",
              [&judge](double share) { judge.limit = share; });
  add_percent(command, "--alpha", "Chance of a false alarm", "1%",
              [&judge](double share) { judge.alpha = share; });
  add_percent(command, "--noise", "Noise to assume if nothing shows it, or few runs do", "",
              [&judge](double share) { judge.noise = share; });
  command
      .add_option_function<std::vector<std::string>>(
          "--gate",
          [&options](const std::vector<std::string>& words) { read_gates(options, words); },
          "Exit with status 1 for REGRESSION, 3 for INCONCLUSIVE; of the step, and of what a "
          "condition names: 'kernel[flash.*].time<=+10%', 'loader.exposed<=5%'. @FILE reads a file "
          "of conditions")
      ->type_name("[METRIC<=BOUND]")
      ->expected(0, 1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_fail_or_pass(command, "--inconclusive", options.passes_inconclusive,
                   "With --gate: the result of INCONCLUSIVE");
}

void add_compare_format(CLI::App& command, CompareSettings& options) {
  std::vector<std::string> names(std::begin(kTableFormatNames), std::end(kTableFormatNames));
  names.insert(names.end(), {"junit", "github"});
  const auto take = [&options, names](const std::string& word) {
    if (std::find(names.begin(), names.end(), word) == names.end() && !parse_table_format(word))
      refuse_word("--format", word, names);
    options.ci_form = word == "junit"    ? CiForm::junit
                      : word == "github" ? CiForm::github
                                         : CiForm::none;
    options.format = parse_table_format(word).value_or(TableFormat::text);
  };
  command
      .add_option_function<std::string>(
          "--format", take,
          "Form of the output; md fits a comment, github also appends it to the step summary")
      ->type_name(fmt::format("{}", fmt::join(names, "|")))
      ->default_str("table")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(kCommonGroup);
}

void add_compare(CLI::App& app, Work& work) {
  const auto options = std::make_shared<CompareSettings>();
  CLI::App* const command = app.add_subcommand(
      "compare",
      "Is the new version slower than its base, and where?\n"
      "A capture is all ranks of one profiled run: a folder, or a merged file. A folder whose "
      "folders are captures is several. Take at least 3 captures a side, in turns on the same "
      "machine: steps of one capture show no noise between runs. A change is a REGRESSION if it is "
      "at least --floor and chance makes it in less than 1 of 100 cases, and OK if it is surely "
      "below --limit.");
  set_page(*command, "docs/commands/compare.md");
  add_sides(*command, *options);
  add_gate(*command, *options);
  command->add_option("--top", options->top, "Rows to show; 0: all")
      ->type_name("N")
      ->group(kCommonGroup)
      ->default_str("20");
  add_unit(*command, options->unit);
  add_compare_format(*command, *options);
  add_table_style(*command, *options);
  add_output_options(*command, *options);
  set_examples(*command, {{"captures of two versions", "trace-stats compare base/ new/"},
                          {"a gate for CI", "trace-stats compare base/ new/ --gate --limit 3%"}});
  command->callback([options, &work] { work.run = [options] { return run_compare(*options); }; });
}

const RegisteredCommand kCompareCommand(CommandGroup::time, 50, add_compare);

}  // namespace
}  // namespace traceloom
