#include "trace_stats/analysis_command.h"

#include "analysis/mesh/by_mesh.h"
#include "base/problems.h"
#include "common/command_line.h"
#include "common/command_spec.h"
#include "common/option_values.h"
#include "common/run_tool.h"
#include "common/terminal.h"
#include "input/input_list.h"
#include "trace_stats/write_output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// The options as they were typed, of a command.
struct Options : CommonOptions {
  AnalysisCommand what;
  std::vector<std::string> inputs;
  std::string ranks;
  std::string steps;
  std::string time;
  std::int64_t top = 0;
  std::size_t max_rows = RowLimit::kMost;
  std::string table;
  std::string sort;
  std::string mesh;
  std::string by;
  TimeUnit unit = TimeUnit::automatic;
  TableFormat format = TableFormat::text;
};

// Returns "traces/ --rank 0-3": what chose the events.
std::string selection_words(const Options& options) {
  std::vector<std::string> words;
  for (const std::string& input : options.inputs) words.push_back(shell_word(input));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.push_back(std::string(name) + ' ' + shell_word(value));
  };
  add("--rank", options.ranks);
  add("--steps", options.steps);
  add("--time", options.time);
  add("--mesh", options.mesh);
  if (options.keep_going) words.emplace_back("--keep-going");
  return fmt::format("{}", fmt::join(words, " "));
}

RunRequest make_request(const Options& options) {
  RunRequest request;
  if (options.top < 0)
    throw UsageError(fmt::format("--top: {} is not a number of rows", options.top));
  if (options.what.take_top) options.what.take_top(options.top);
  request.ranks = read_ranks("--rank", options.ranks);
  request.steps = read_steps("--steps", options.steps);
  request.time = read_time("--time", options.time);
  request.mesh_sizes = read_mesh("--mesh", options.mesh);
  request.keep_going = options.keep_going;
  request.threads = options.threads;
  request.details = options.what.details;
  request.samples = options.what.samples;
  request.python = options.what.python;
  request.spread = options.what.spread;
  if (options.what.prepare) options.what.prepare(request);
  std::vector<OtherFile> memory;
  request.inputs = find_inputs(kToolName, options.inputs, options.keep_going,
                               options.what.take_memory ? &memory : nullptr);
  for (const OtherFile& file : memory)
    refuse_input_as_output({{file.path, std::nullopt}}, options.output);
  if (options.what.take_memory) options.what.take_memory(std::move(memory));
  return request;
}

// The progress counts the bytes of the files as they are stored. If one is a pipe, the total is
// unknown (0).
Run read_with_progress(RunRequest& request) {
  const std::uint64_t total = stored_bytes(request.inputs);
  Progress progress("reading");
  request.progress = [&](std::uint64_t bytes) { progress.show(bytes, total); };
  request.team = &tool_team();
  return read_run(request);
}

// Applies --table.
void keep_table(std::vector<ReportTable>& tables, const std::string& key) {
  const auto wanted = [&](const ReportTable& part) { return part.key == key; };
  if (std::none_of(tables.begin(), tables.end(), wanted)) {
    std::vector<std::string> known;
    known.reserve(tables.size());
    for (const ReportTable& part : tables) known.push_back(part.key);
    refuse_word("--table", key, known);
  }
  std::erase_if(tables, [&](const ReportTable& part) { return !wanted(part); });
}

// Applies --table, --sort, --top and --unit. The first table that has rows comes first.
void arrange(Report& report, const Options& options) {
  if (!options.table.empty()) keep_table(report.tables, options.table);
  for (ReportTable& part : report.tables) part.table.show_in(options.unit);
  if (report.tables.empty()) return;
  // CSV, --sort and --top use the first table, and people would see it without rows.
  const auto found = std::ranges::find_if(
      report.tables, [](const ReportTable& part) { return !part.table.rows().empty(); });
  if (found != report.tables.end()) std::rotate(report.tables.begin(), found, found + 1);
  Table& table = report.tables.front().table;
  if (!options.sort.empty() && !table.sort_by(options.sort)) {
    std::vector<std::string> known;
    for (const Column& column : table.columns()) known.push_back(column.key);
    refuse_word("--sort", options.sort, known);
  }
  if (options.top > 0) table.cut_to(static_cast<std::size_t>(options.top));
}

// Applies --by.
void group_by(Report& report, const Run& run, const std::string& by) {
  const auto name = std::ranges::find(kMeshPartNames, by);
  if (name == kMeshPartNames.end())
    refuse_word("--by", by, {kMeshPartNames.begin(), kMeshPartNames.end()});
  group_ranks(report, run, static_cast<MeshPart>(name - kMeshPartNames.begin()));
}

// Refuses a selection that matches nothing, since its gates would always pass.
void refuse_empty_selection(const Run& run, const RunRequest& request, const Options& options) {
  const std::string nothing = "matches nothing in these traces, so the gate cannot be measured";
  for (const NumberRange& range : request.ranks) {
    const auto is_wanted = [&](const RankEvents& rank) { return is_in({range}, rank.rank); };
    if (std::none_of(run.ranks.begin(), run.ranks.end(), is_wanted))
      throw UsageError(range.first == range.last
                           ? fmt::format("--rank: {} {}", range.first, nothing)
                           : fmt::format("--rank: {}-{} {}", range.first, range.last, nothing));
  }
  const auto has_steps = [](const RankEvents& rank) { return !rank.steps.list.empty(); };
  if (request.steps && std::none_of(run.ranks.begin(), run.ranks.end(), has_steps))
    throw UsageError(fmt::format("--steps: {} {}", options.steps, nothing));
  const auto has_events = [](const RankEvents& rank) { return rank.kinds.any; };
  if (request.time && std::none_of(run.ranks.begin(), run.ranks.end(), has_events))
    throw UsageError(fmt::format("--time: {} {}", options.time, nothing));
}

void limit_rows(const Run& run, const Options& options) {
  if (!options.what.count_rows) return;
  RowLimit limit(options.what.name, options.max_rows);
  options.what.count_rows(run, limit);
}

ExitCode run_analysis(const Options& options, const Analysis& analysis) {
  const bool is_silent =
      options.output == "-" && options.what.is_served && options.what.is_served();
  if (options.what.is_page && !is_silent) refuse_page_on_terminal(options.output);
  RunRequest request = analysis.request();
  refuse_input_as_output(request.inputs, options.output);
  if (options.what.take_request) options.what.take_request(request, selection_words(options));
  Run run = request.inputs.empty() ? Run{} : read_with_progress(request);
  if (!tool_team().is_first()) {
    // Process 0 does the same with the run, and has the answer.
    if (request.spread) analysis.answer(run);
    return ExitCode::done;
  }
  const bool loss = !run.files.empty() && report_files(run.files, options.verbosity);
  if (options.what.take_run) options.what.take_run(run);
  if (options.what.has_gates && options.what.has_gates())
    refuse_empty_selection(run, request, options);
  Answer answer = analysis.answer(run);
  if (!options.by.empty()) group_by(answer.report, run, options.by);
  arrange(answer.report, options);
  TextStyle style = text_style(options.output, options.wide);
  style.csv_safe = options.csv_safe;
  const std::string text =
      answer.text ? std::move(*answer.text) : render_report(answer.report, options.format, style);
  if (!is_silent) write_output(options.output, text, !answer.text && is_for_people(options.format));
  if (options.what.is_page && options.output != "-") say_page(options.output);
  if (options.what.after) options.what.after();
  if (answer.is_no || ((loss || answer.is_loss) && options.strict)) return ExitCode::no;
  return answer.report.is_unknown ? ExitCode::trouble : ExitCode::done;
}

CLI::Option* add_text(CLI::App& command, const std::string& name, std::string& text,
                      const std::string& value, const std::string& help) {
  return command.add_option(name, text, help)->type_name(value)->group(kCommonGroup);
}

void add_selection(CLI::App& command, Options& options) {
  add_text(command, "--rank", options.ranks, "LIST", "Use only these ranks: 0,4-7");
  add_text(command, "--steps", options.steps, "FROM:TO",
           "Use only these steps: 10:12, 10:, :12 or 11\n"
           "Both ends are included. A step lasts until the next one begins.");
  add_text(command, "--time", options.time, "FROM:TO",
           "Use events in this time: 1.5s:2s, :1s\n"
           "An event belongs to the time in which it begins. Times count from the first event of "
           "all ranks, on their common clock. Either end may be "
           "left out: 200ms: or :1s.");
}

void add_mesh(CLI::App& command, Options& options) {
  add_text(command, "--mesh", options.mesh, "SIZES",
           "How the ranks share the work: tp=2,pp=4,dp=2\n"
           "Overrides what the traces say. Ranks are numbered as Megatron does: tensor parallel "
           "ranks are neighbours, then context (cp) and data parallel ones, then stages; expert "
           "parallel ones (ep) are neighbours among the data parallel ones.");
}

void add_by(CLI::App& command, Options& options) {
  add_text(command, "--by", options.by, "PART",
           "Group ranks by stage, tp, dp, ep or node\n"
           "Counts and bytes are the sums of a group, all other numbers the means of its rows.");
}

void add_rows(CLI::App& command, Options& options) {
  add_text(command, "--table", options.table, "NAME",
           "Show only the table with this JSON key\n"
           "CSV has one table: the first, unless another is named here.");
  add_text(command, "--sort", options.sort, "COLUMN",
           "Sort the first table by this CSV column\n"
           "Numbers are sorted in descending order.");
  CLI::Option* const top =
      command.add_option("--top", options.top, "Show the first N rows of the first table")
          ->type_name("N")
          ->group(kCommonGroup);
  if (options.top > 0) top->default_str(std::to_string(options.top));
  if (options.what.count_rows)
    add_count(command, "--max-rows", options.max_rows,
              "Refuse to make more rows\nEach row takes some 2 KB of memory.")
        ->default_str(std::to_string(RowLimit::kMost))
        ->group(kCommonGroup);
  add_unit(command, options.unit);
}

void add_table_options(CLI::App& command, Options& options) {
  add_rows(command, options);
  add_format(command, options.format);
  add_table_style(command, options);
}

}  // namespace

std::string shell_word(const std::string& word) {
  const auto is_usual = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_usual)) return word;
  std::string quoted = "'";
  for (const char c : word)
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  return quoted + "'";
}

void refuse_page_on_terminal(const std::string& output) {
  if (output == "-" && is_terminal(Stream::out))
    throw UsageError("the output is a page for a browser: name its file with -o report.html");
}

void say_page(const std::string& path) {
  say(kToolName, Tone::note, fmt::format("wrote {}: open it in a browser", path));
}

CLI::App* add_analysis(CLI::App& app, Work& work, const AnalysisCommand& what,
                       std::function<Answer(const Run&)> analyse) {
  const auto options = std::make_shared<Options>();
  options->what = what;
  options->top = what.top;
  CLI::App* const command = app.add_subcommand(what.name, what.help);
  set_page(*command, fmt::format("docs/commands/{}.md", what.name));
  CLI::Option* const inputs = add_inputs(*command, options->inputs);
  if (what.instead || what.more_inputs) inputs->required(false);
  add_selection(*command, *options);
  if (what.takes_mesh || what.by_mesh) add_mesh(*command, *options);
  if (what.by_mesh) add_by(*command, *options);
  if (!what.is_page) add_table_options(*command, *options);
  add_output_options(*command, *options);
  command->callback([options, &work, more = what.more_inputs, analyse = std::move(analyse)] {
    if (more)
      for (const std::string& input : more()) options->inputs.push_back(input);
    const Task other = options->what.instead ? options->what.instead() : Task();
    if (!other && options->inputs.empty())
      throw UsageError(fmt::format("argument TRACE is missing; see {} {} --help", kToolName,
                                   options->what.name));
    if (other) {
      work = {other};
      return;
    }
    const auto analysis = std::make_shared<Analysis>();
    analysis->request = [options] { return make_request(*options); };
    analysis->answer = [options, analyse](const Run& run) {
      limit_rows(run, *options);
      return analyse(run);
    };
    work = {[options, analysis] { return run_analysis(*options, *analysis); }, analysis};
  });
  return command;
}

}  // namespace traceloom
