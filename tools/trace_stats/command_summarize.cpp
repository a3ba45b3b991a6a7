// trace-stats summarize: latency statistics of spans, one row a name, category or rank.
#include "base/problems.h"
#include "base/units.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "common/run_tool.h"
#include "common/terminal.h"
#include "input/byte_source.h"
#include "input/input_list.h"
#include "summarize/summarize.h"
#include "trace_stats/commands.h"
#include "trace_stats/write_output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {
namespace {

// The options as they were typed.
struct SummarizeSettings : CommonOptions {
  std::vector<std::string> inputs;
  std::string by = "name";
  std::string sort = "total";
  std::int64_t top = 0;
  std::size_t max_rows = kMostRows;
  TimeUnit unit = TimeUnit::automatic;
  std::string filter;
  std::string categories;
  std::string ranks;
  std::string time;
  std::vector<LatencyGate> gates;
  TableFormat format = TableFormat::text;
};

SummaryGrouping read_grouping(const std::string& list) {
  SummaryGrouping by;
  read_switches("--by", list,
                {{"name", {&by.name}}, {"category", {&by.category}}, {"rank", {&by.rank}}});
  return by;
}

// Accepts the name of the CSV column (total_ns), too.
SummaryOrder read_order(const std::string& word, const SummaryGrouping& by) {
  const auto* const found = std::find_if(
      std::begin(kSummaryOrderNames), std::end(kSummaryOrderNames),
      [&](std::string_view name) { return word == name || word == fmt::format("{}_ns", name); });
  if (found == std::end(kSummaryOrderNames))
    refuse_word("--sort", word, {std::begin(kSummaryOrderNames), std::end(kSummaryOrderNames)});
  const auto order = static_cast<SummaryOrder>(found - std::begin(kSummaryOrderNames));
  if ((order == SummaryOrder::rank && !by.rank) || (order == SummaryOrder::name && !by.name))
    throw UsageError(fmt::format("--sort {} needs --by {}", word, word));
  return order;
}

LabelFilter read_filter(const SummarizeSettings& options) {
  LabelFilter filter;
  if (!options.filter.empty()) filter.names.push_back(read_pattern("--filter", options.filter));
  if (!options.categories.empty())
    filter.categories = read_categories("--category", options.categories);
  return filter;
}

SummaryRequest make_request(const SummarizeSettings& options) {
  SummaryRequest request;
  request.by = read_grouping(options.by);
  request.order = read_order(options.sort, request.by);
  if (options.top < 0)
    throw UsageError(fmt::format("--top: {} is not a number of rows", options.top));
  request.max_rows = options.max_rows;
  // A gate sees all rows.
  request.top = options.gates.empty() ? static_cast<std::size_t>(options.top) : 0;
  if (!options.gates.empty() && !request.by.name)
    throw UsageError("--fail-on needs --by name, because it names spans");
  request.ranks = read_ranks("--rank", options.ranks);
  request.filter = read_filter(options);
  request.time = read_time("--time", options.time);
  request.keep_going = options.keep_going;
  request.threads = options.threads;
  request.inputs = find_inputs(kToolName, options.inputs, options.keep_going);
  return request;
}

// The progress counts the bytes of the files as they are stored. If one is a pipe, the total is
// unknown (0).
Summary summarize_with_progress(SummaryRequest& request) {
  const std::uint64_t total = stored_bytes(request.inputs);
  Progress progress("reading");
  request.progress = [&](std::uint64_t bytes) { progress.show(bytes, total); };
  request.team = &tool_team();
  return summarize(request);
}

// Says which spans take longer than their gate allows; returns the exit code of that.
ExitCode judge_gates(const std::vector<LatencyGate>& gates, const Summary& summary) {
  constexpr std::size_t kMostSaid = 5;
  ExitCode code = ExitCode::done;
  for (const LatencyGate& gate : gates) {
    const LatencyAnswer found = judge(gate, summary);
    for (std::size_t i = 0; i < std::min(found.exceeds.size(), kMostSaid); ++i)
      say(kToolName, Tone::note, "--fail-on: " + found.exceeds[i]);
    if (found.exceeds.size() > kMostSaid)
      say(kToolName, Tone::note,
          fmt::format("--fail-on: '{}' is exceeded by {} rows in all", gate.text,
                      found.exceeds.size()));
    if (!found.exceeds.empty()) {
      code = ExitCode::no;
    } else if (found.rows == 0) {
      say(kToolName, Tone::note,
          fmt::format("--fail-on: '{}': no span has that name, so it is not measured", gate.text));
      if (code == ExitCode::done) code = ExitCode::trouble;
    }
  }
  return code;
}

ExitCode run(const SummarizeSettings& options) {
  SummaryRequest request = make_request(options);
  refuse_input_as_output(request.inputs, options.output);
  Summary summary = summarize_with_progress(request);
  if (!tool_team().is_first()) return ExitCode::done;
  summary.unit = options.unit;
  const ExitCode gated = judge_gates(options.gates, summary);
  if (options.top > 0 && summary.rows.size() > static_cast<std::size_t>(options.top))
    summary.rows.resize(static_cast<std::size_t>(options.top));
  const bool loss = report_files(summary.files, options.verbosity);
  if (summary.rows.empty())
    say(kToolName, Tone::note,
        summary.async_spans == 0
            ? "no span matches: the tables are empty"
            : fmt::format(
                  "no span matches: the tables are empty; {} (b to e) may overlap, and have "
                  "no rows",
                  count_of(summary.async_spans, "async span")));
  TextStyle style = text_style(options.output, options.wide);
  style.csv_safe = options.csv_safe;
  write_output(options.output, render_summary(summary, options.format, style),
               is_for_people(options.format));
  return gated == ExitCode::done && loss && options.strict ? ExitCode::no : gated;
}

void add_gates(CLI::App& command, SummarizeSettings& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--fail-on",
          [&options](const std::vector<std::string>& words) {
            for (const std::string& word : with_gate_files(words))
              options.gates.push_back(read_latency_gate("--fail-on", word));
          },
          "Exit with status 1 if spans take longer: 'decode.p99>5ms', '[attn.*].max>2s'; with 2 if "
          "none has the name\nMay be given several times. @FILE reads a file of conditions. "
          "'decode.p99=5ms' means the same.")
      ->type_name("NAME.FIELD>TIME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_selection(CLI::App& command, SummarizeSettings& options) {
  command.add_option("--filter", options.filter, "Use only spans whose name contains a match")
      ->type_name("REGEX");
  command
      .add_option("--category", options.categories,
                  "Use only spans of these categories\n'(none)' stands for spans without one.")
      ->type_name("NAME,...");
  command.add_option("--rank", options.ranks, "Use only these ranks: 0,4-7")
      ->type_name("LIST")
      ->group(kCommonGroup);
  command
      .add_option("--time", options.time,
                  "Use spans in this time: 1.5s:2s, :1s\n"
                  "A span belongs to the time in which it begins. Times count from the first event "
                  "of all ranks, on their common clock.")
      ->type_name("FROM:TO")
      ->group(kCommonGroup);
}

void add_rows(CLI::App& command, SummarizeSettings& options) {
  command.add_option("--by", options.by, "Make one row for each combination of these")
      ->type_name("name|category|rank,...")
      ->capture_default_str();
  command.add_option("--sort", options.sort, "The order of the rows")
      ->type_name(fmt::format("{}", fmt::join(kSummaryOrderNames, "|")))
      ->capture_default_str();
  command.add_option("--top", options.top, "Show the first N rows")
      ->type_name("N")
      ->group(kCommonGroup);
  add_count(command, "--max-rows", options.max_rows,
            "Refuse to make more rows\nEach row takes some 2 KB of memory.")
      ->default_str(std::to_string(kMostRows))
      ->group(kCommonGroup);
  add_unit(command, options.unit);
}

void add_summarize(CLI::App& app, Work& work) {
  const auto options = std::make_shared<SummarizeSettings>();
  CLI::App* const command = app.add_subcommand(
      "summarize",
      "Latency statistics of spans by name, category or rank\n"
      "Shows count, total, mean, percentiles, extremes and deviation. A span is a complete event "
      "(X) or a matched pair of begin and end events (B, E). A host range and its copy on a device "
      "share a name but not a category, so they are two rows.");
  set_page(*command, "docs/commands/summarize.md");
  add_inputs(*command, options->inputs);
  add_selection(*command, *options);
  add_rows(*command, *options);
  add_gates(*command, *options);
  add_format(*command, options->format);
  add_table_style(*command, *options);
  add_output_options(*command, *options);
  set_examples(
      *command,
      {{"the 20 names that take the most time, over all ranks",
        "trace-stats summarize traces/ --top 20"},
       {"kernels, one row for each rank and name, slowest 1 % first",
        "trace-stats summarize traces/ --category kernel --by rank,name --sort p99"},
       {"for a program", "trace-stats summarize merged.json --format json -o summary.json"}});
  command->callback([options, &work] { work.run = [options] { return run(*options); }; });
}

const RegisteredCommand kSummarizeCommand(CommandGroup::time, 40, add_summarize);

}  // namespace
}  // namespace traceloom
