// The command line of a tool: how it is parsed, and the options that several commands share.
#pragma once

#include "common/command_spec.h"
#include "common/terminal.h"
#include "input/input_list.h"
#include "table/table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
// Parses the command line with CLI11, but with our own help and error messages.
//
//   CLI::App app("Merges the traces of many ranks into one, on one clock");
//   set_up(app, "trace-merge");           // before options and commands are added
//   add_inputs(app, options.inputs);
//   if (!parse(app, argc, argv)) return ExitCode::done;

class App;

// Options that several commands share, each with its name, help and check in one place. They belong
// to the group kCommonGroup.
//
//   add_inputs(app, options.inputs);
//   add_threads(app, options.threads);
//
// The value of the variable is the default. parse() throws UsageError for a value that cannot be
// read.

class App;
class Option;
}  // namespace CLI

namespace traceloom {

// Gives the tool its name, -h/--help, --version, and the help style that fits stdout.
void set_up(CLI::App& app, const std::string& name);

// Returns false if there is nothing left to do: the help or the version was printed, `--generate
// FOLDER` has written man pages and completions (reference.h), or `--list-commands` has printed a
// line for each command: its name, arguments and options. Throws a UsageError that says what
// is wrong and what to try: "unknown option --thredas (did you mean --threads?)". An empty value
// counts as a missing one.
bool parse(CLI::App& app, int argc, const char* const* argv);

// TRACE...: files, folders, patterns or -, as expand_inputs() takes them.
CLI::Option* add_inputs(CLI::App& app, std::vector<std::string>& inputs);
// Returns the files that the arguments of `tool` stand for. With --keep-going a missing file is an
// input that cannot be read. A note on stderr names files of folders that are no traces. Throws
// UsageError for a file that is named twice.
// A command that reads files about memory gives `memory`: those that it takes are moved there.
// Without `takes` these are all, and no trace is needed. A note names the others.
std::vector<Input> find_inputs(std::string_view tool, const std::vector<std::string>& arguments,
                               bool keep_going, std::vector<OtherFile>* memory = nullptr,
                               bool (*takes)(const OtherFile&) = nullptr);
// -o, --output FILE; - is stdout.
CLI::Option* add_output(CLI::App& app, std::string& path);
// -j, --threads N; 0 stands for all cores.
CLI::Option* add_threads(CLI::App& app, unsigned& threads);
// --format table|csv|json|md.
CLI::Option* add_format(CLI::App& app, TableFormat& format);
// An option fail|pass for a gate without an answer; fail unless it is given.
CLI::Option* add_fail_or_pass(CLI::App& app, const std::string& name, bool& passes,
                              const std::string& help);
// --unit auto|ns|us|ms|s.
CLI::Option* add_unit(CLI::App& app, TimeUnit& unit);
// --wide shows tables with all columns.
CLI::Option* add_wide(CLI::App& app, bool& wide);
// --csv-safe writes CSV for spreadsheets.
CLI::Option* add_csv_safe(CLI::App& app, bool& csv_safe);
// --strict makes the answer no if a repair lost data.
CLI::Option* add_strict(CLI::App& app, bool& strict);
// --keep-going leaves out an input that is no trace, which otherwise ends the run.
CLI::Option* add_keep_going(CLI::App& app, bool& keep_going);
// -v, --verbose also reports harmless irregularities of the inputs.
CLI::Option* add_verbose(CLI::App& app, Verbosity& verbosity);

// Adds an option of the command's own that takes a number from 1 up.
CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& count,
                       const std::string& help);
// Adds an option that takes a size ("64MiB") or a time ("1.5ms"); see base/units.h.
CLI::Option* add_size(CLI::App& app, const std::string& name, std::uint64_t& bytes,
                      const std::string& help);
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::int64_t& ns,
                          const std::string& help);

}  // namespace traceloom
