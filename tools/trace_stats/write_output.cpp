#include "trace_stats/write_output.h"

#include "common/command_line.h"
#include "common/terminal.h"
#include "output/file_sink.h"
#include "output/sink.h"
#include "trace_stats/commands.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>

namespace traceloom {
namespace {

constexpr int kWidthOfFiles = 120;  // and of pipes; --help names this number

}  // namespace

void add_table_style(CLI::App& command, CommonOptions& options) {
  add_wide(command, options.wide);
  add_csv_safe(command, options.csv_safe);
}

void add_output_options(CLI::App& command, CommonOptions& options) {
  add_output(command, options.output);
  add_threads(command, options.threads);
  add_keep_going(command, options.keep_going);
  add_strict(command, options.strict);
  add_verbose(command, options.verbosity);
}

TextStyle text_style(const std::string& output, bool wide) {
  const bool terminal = output == "-" && is_terminal(Stream::out);
  return {.colour = terminal && wants_colour(Stream::out),
          .width = terminal ? terminal_width(Stream::out) : kWidthOfFiles,
          .cut_names = terminal,
          .wrap = terminal,
          .wide = wide};
}

void write_output(const std::string& path, const std::string& text, bool for_people) {
  // What is no terminal for us needs no escapes.
  std::unique_ptr<Sink> sink = open_file_sink(
      path, {.for_people = for_people || !is_terminal(Stream::out), .outlives_reader = true});
  sink = pack_by_name(std::move(sink), path);
  sink->write(text);
  sink->close();
}

bool report_file(const std::string& path, const std::string& error, const ProblemCounts& problems,
                 Verbosity verbosity) {
  if (!error.empty()) say(kToolName, Tone::warning, error + " (left out)");
  report_problems(kToolName, path, problems, verbosity);
  return !error.empty() || problems.has_loss();
}

void refuse_input_as_output(const std::vector<Input>& inputs, const std::string& output) {
  if (is_input(inputs, output))
    throw UsageError(fmt::format("-o {}: this is one of the inputs", output));
}

}  // namespace traceloom
