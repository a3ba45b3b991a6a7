// trace-stats report: a page that a person opens in a browser.
#include "base/problems.h"
#include "common/command_spec.h"
#include "common/run_tool.h"
#include "common/serve.h"
#include "comparison/comparison.h"
#include "input/input_list.h"
#include "merge/merger.h"
#include "page/page.h"
#include "trace_stats/analysis_command.h"
#include "trace_stats/read_captures.h"
#include "trace_stats/write_output.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

constexpr char kServedPage[] = "report.html";

// The options as they were typed, and what --serve needs until the end.
struct ReportCommand {
  PageOptions page;
  std::vector<OtherFile> memory;
  MemoryReading reading;
  std::string text;  // the page, until the merged trace is there
  Serving serving;
  MergeOptions merge;
  std::vector<std::string> base;  // a page of a comparison
  std::vector<std::string> changed;
  bool by_run = false;
  std::optional<PrivateFolder> folder;
  std::optional<FileServer> server;
};

void start_server(const RunRequest& request, ReportCommand& command) {
  command.merge.inputs = request.inputs;
  command.merge.keep_going = request.keep_going;
  command.merge.threads = request.threads;
  command.merge.output = command.folder.emplace().path(kServedTrace);
  command.server.emplace(
      std::vector<ServedFile>{{kServedPage, "text/html; charset=utf-8", ""},
                              {kServedTrace, "application/json", command.merge.output}},
      command.serving.options());
}

std::string write_pages(const Run& run, ReportCommand& command) {
  std::string page = write_page(run, command.page);
  if (command.server) command.text = page;
  return page;
}

void serve(ReportCommand& command) {
  if (!command.server) return;
  merge_traces(command.merge);
  command.server->set_content(
      kServedPage, with_viewer_link(std::move(command.text),
                                    {command.server->viewer_link(kServedTrace), kServedTrace,
                                     std::filesystem::file_size(command.merge.output)}));
  announce(kToolName, *command.server, kServedPage);
  command.server->run();
}

std::string side_words(const char* option, const std::vector<std::string>& paths) {
  std::string words;
  for (const std::string& path : paths) words += fmt::format(" {} {}", option, shell_word(path));
  return words;
}

// The comparison has no run of its own to choose from, or to serve.
void refuse_options_of_a_run(const CLI::App& command) {
  const std::set<std::string> taken = {"--base",   "--new",     "--by-run",
                                       "--output", "--threads", "--keep-going"};
  for (const CLI::Option* const option : command.get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    const std::string name = names.empty() ? option->get_name() : "--" + names.front();
    if (option->count() > 0 && !taken.contains(name))
      throw UsageError(fmt::format("{} does not go with --base and --new", name));
  }
}

std::string shell_words(const std::vector<std::string>& paths) {
  std::string words;
  for (const std::string& path : paths) words += (words.empty() ? "" : " ") + shell_word(path);
  return words;
}

// Reads the capture that the page shows of a side once more, with all that its sections need. The
// first reading has said what is wrong with it.
PageSide read_side(const std::string& name, const std::vector<Capture>& captures,
                   const CaptureReader& reader, const CaptureReading& reading) {
  const Capture& shown = *median_capture(captures);
  const std::vector<std::string> paths = reader.paths_of(name, shown.name);
  PageSide side{{shell_words(paths), name}, shown.name};
  if (paths.empty()) {
    side.why = "This capture is part of a baseline, which has no traces: give them for its page.";
    return side;
  }
  RunRequest request;
  OtherFiles other_files;
  request.inputs = expand_inputs(
      paths, reading.keep_going ? MissingFile::keep : MissingFile::refuse, &other_files);
  request.keep_going = reading.keep_going;
  request.threads = reading.threads;
  if (stored_bytes(request.inputs) == 0) {
    side.why = "This capture came through a pipe, so it could be read only once.";
    return side;
  }
  prepare_for_page(request);
  Run run = read_run(request);
  const PageTree tree = take_page_tree(run, kMostTreeNodes / 2);
  std::erase_if(other_files.of_kind,
                [](const OtherFile& file) { return !is_memory_kind(file.kind); });
  MemoryReading memory{reading.threads, true};
  memory.run = &run;
  return make_page_side(run, std::move(side), tree, read_memory_files(other_files.of_kind, memory));
}

ExitCode write_comparison(const ReportCommand& command, const CaptureReading& reading) {
  if (command.base.empty() || command.changed.empty())
    throw UsageError("--base and --new go together: name the captures of both sides");
  refuse_page_on_terminal(reading.output);
  CaptureReader reader(reading);
  ComparedSides sides = reader.read_sides(command.base, command.changed);
  sides.is_by_run |= command.by_run;
  if (!tool_team().is_first()) return ExitCode::done;
  const Comparison found = compare(sides, {});
  const std::string words = side_words("--base", command.base) +
                            side_words("--new", command.changed) +
                            (command.by_run ? " --by-run" : "");
  const Report report = compare_report(sides, {}, found);
  const std::string page =
      write_comparison_page({report,
                             found,
                             {words.substr(1)},
                             read_side("base", sides.base, reader, reading),
                             read_side("new", sides.changed, reader, reading)});
  write_output(reading.output, page, false);
  if (reading.output != "-") say_page(reading.output);
  return found.kind == ChangeKind::incomparable ? ExitCode::trouble : ExitCode::done;
}

void add_report(CLI::App& app, Work& work) {
  const auto options = std::make_shared<ReportCommand>();
  CLI::App* const command = add_analysis(
      app, work,
      {.name = "report",
       .help =
           "One page for a browser: the verdict, where time goes, a timeline\n"
           "Writes one HTML file of at most 2 MB, which needs no network and no other file. It has "
           "the numbers of the other commands, each beside the command that prints it: what limits "
           "the run, ranks and steps, communication, devices, kernels, operators, calls, memory, "
           "clocks, and a timeline to zoom into.",
       .takes_mesh = true,
       .prepare = prepare_for_page,
       .take_memory = [options](std::vector<OtherFile> files) { options->memory = files; },
       .is_page = true,
       .take_request =
           [options, &app](const RunRequest& request, const std::string& words) {
             if (!tool_team().is_first()) return;
             check_serving(options->serving, app.get_subcommand("report")->count("--port") > 0);
             if (options->serving.is_wanted) start_server(request, *options);
             options->page.arguments = words;
             options->reading = {request.threads, true, request.ranks};
           },
       .take_run =
           [options](Run& run) {
             options->page.tree = take_page_tree(run);
             options->reading.run = &run;
             options->page.memory = read_memory_files(options->memory, options->reading);
           },
       .instead =
           [options, &app] {
             if (options->base.empty() && options->changed.empty()) return Task();
             const CLI::App& typed = *app.get_subcommand("report");
             refuse_options_of_a_run(typed);
             CaptureReading reading;
             if (typed.count("--output") > 0)
               reading.output = typed.get_option("--output")->as<std::string>();
             reading.threads = typed.get_option("--threads")->as<unsigned>();
             reading.keep_going = typed.count("--keep-going") > 0;
             return Task([options, reading] { return write_comparison(*options, reading); });
           },
       .is_served = [options] { return options->serving.is_wanted; },
       .after = [options] { serve(*options); }},
      [options](const Run& run) {
        Answer answer{Report("report", run)};
        answer.text = write_pages(run, *options);
        answer.is_loss = options->page.memory.has_loss();
        return answer;
      });
  CLI::Option* const base =
      command
          ->add_option("--base", options->base,
                       "Page of a comparison: captures of the base, as for compare")
          ->type_name("PATH");
  command
      ->add_option("--new", options->changed, "Page of a comparison: captures of the new version")
      ->type_name("PATH");
  command->add_flag("--by-run", options->by_run, "Of a comparison: each side is one run")
      ->needs(base);
  add_serve(*command, options->serving, "the merged trace", kCommonGroup);
  set_examples(*command,
               {{"the page of a run", "trace-stats report traces/ -o report.html"},
                {"of two of its steps", "trace-stats report traces/ --steps 10:11 -o steps.html"},
                {"of two versions", "trace-stats report --base base/ --new new/ -o compare.html"},
                {"with a link into the viewer", "trace-stats report traces/ --serve"}});
}

const RegisteredCommand kReportCommand(CommandGroup::limits, 20, add_report);

}  // namespace
}  // namespace traceloom
