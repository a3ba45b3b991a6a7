#include "common/options.h"

#include "base/error.h"
#include "base/units.h"
#include "common/command_spec.h"
#include "common/did_you_mean.h"
#include "common/say.h"
#include "common/tool_team.h"
#include "team/wire.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace traceloom {
namespace {

constexpr unsigned kMaxThreads = 1024;

std::optional<unsigned> parse_threads(const std::string& text) {
  unsigned threads = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, threads);
  if (error != std::errc() || rest != end || threads > kMaxThreads) return std::nullopt;
  return threads;
}

std::optional<std::size_t> parse_positive(const std::string& text) {
  std::size_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || rest != end || count == 0) return std::nullopt;
  return count;
}

// Adds an option whose value is parsed by `read`, which returns nullopt for a wrong one. The
// message is "'x' is not " and then `wanted`.
template <typename Value, typename Read>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, Value& value, Read read,
                        const std::string& wanted, const std::string& help) {
  const auto take = [name, &value, read, wanted](const CLI::results_t& results) {
    const auto parsed = read(results.back());
    if (!parsed)
      throw UsageError(
          fmt::format("{}: '{}' is not {}", name.substr(name.find("--")), results.back(), wanted));
    value = *parsed;
    return true;
  };
  return app.add_option(name, take, help);
}

TableFormat read_format(const std::string& name) {
  if (const std::optional<TableFormat> format = parse_table_format(name)) return *format;
  refuse_word("--format", name, {std::begin(kTableFormatNames), std::end(kTableFormatNames)});
}

TimeUnit read_unit(const std::string& word) {
  const auto* const found = std::find(std::begin(kTimeUnitNames), std::end(kTimeUnitNames), word);
  if (found == std::end(kTimeUnitNames))
    refuse_word("--unit", word, {std::begin(kTimeUnitNames), std::end(kTimeUnitNames)});
  return static_cast<TimeUnit>(found - std::begin(kTimeUnitNames));
}

}  // namespace

CLI::Option* add_inputs(CLI::App& app, std::vector<std::string>& inputs) {
  return app
      .add_option("TRACE", inputs,
                  "Trace files, folders or patterns; - is stdin\n"
                  "A trace file is JSON as Chrome defines it, plain or gzip. RANK=TRACE names the "
                  "rank of a file that does not say it.")
      ->required();
}

CLI::Option* add_output(CLI::App& app, std::string& path) {
  return app.add_option("-o,--output", path, "Write to FILE; .gz compresses, - is stdout")
      ->type_name("FILE")
      ->group(kCommonGroup);
}

CLI::Option* add_threads(CLI::App& app, unsigned& threads) {
  return add_parsed(app, "-j,--threads", threads, parse_threads,
                    fmt::format("a number of threads from 0 to {}", kMaxThreads),
                    "Use N threads; 0: one per core")
      ->type_name("N")
      ->default_str(std::to_string(threads))
      ->group(kCommonGroup);
}

CLI::Option* add_format(CLI::App& app, TableFormat& format) {
  const auto take = [&format](const CLI::results_t& results) {
    format = read_format(results.back());
    return true;
  };
  return app.add_option("--format", take, "Form of the output")
      ->type_name(fmt::format("{}", fmt::join(kTableFormatNames, "|")))
      ->default_str(std::string(kTableFormatNames[static_cast<std::size_t>(format)]))
      ->group(kCommonGroup);
}

CLI::Option* add_fail_or_pass(CLI::App& app, const std::string& name, bool& passes,
                              const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [name, &passes](const std::string& word) {
            if (word != "pass" && word != "fail") refuse_word(name, word, {"fail", "pass"});
            passes = word == "pass";
          },
          help)
      ->type_name("fail|pass")
      ->default_str("fail");
}

CLI::Option* add_unit(CLI::App& app, TimeUnit& unit) {
  const auto take = [&unit](const CLI::results_t& results) {
    unit = read_unit(results.back());
    return true;
  };
  return app.add_option("--unit", take, "Unit of times; CSV, JSON: ns")
      ->type_name(fmt::format("{}", fmt::join(kTimeUnitNames, "|")))
      ->default_str(std::string(kTimeUnitNames[static_cast<std::size_t>(unit)]))
      ->group(kCommonGroup);
}

CLI::Option* add_wide(CLI::App& app, bool& wide) {
  return app
      .add_flag("--wide", wide,
                "Show all columns, however long the lines\n"
                "Otherwise a table shows the columns that matter most, as many as the terminal has "
                "room for (120 characters in files and pipes). CSV and JSON always have all.")
      ->group(kCommonGroup);
}

CLI::Option* add_csv_safe(CLI::App& app, bool& csv_safe) {
  return app
      .add_flag("--csv-safe", csv_safe,
                "Write CSV that a spreadsheet can open safely\n"
                "Puts an apostrophe before names that begin with = + - @, a tab or the end of a "
                "line, which a spreadsheet would run as a formula.")
      ->group(kCommonGroup);
}

CLI::Option* add_strict(CLI::App& app, bool& strict) {
  return app.add_flag("--strict", strict, "Exit with status 1 if a repair lost data")
      ->group(kCommonGroup);
}

namespace {

// Only one process of a team has stdin.
void refuse_stdin(const std::vector<Input>& inputs) {
  for (const Input& input : inputs)
    if (input.path == "-") throw UsageError("--mpi cannot read stdin: save the trace as a file");
}

std::string words_of_others(const std::vector<std::string>& files) {
  if (files.size() == 1) return fmt::format("left out a file that is no trace: {}", files.front());
  return fmt::format("left out {} files that are no traces: {}, ...", files.size(), files.front());
}

}  // namespace

std::vector<Input> find_inputs(std::string_view tool, const std::vector<std::string>& arguments,
                               bool keep_going) {
  std::vector<std::string> other_files;
  std::vector<Input> inputs;
  if (tool_team().is_first()) {
    inputs = expand_inputs(arguments, keep_going ? MissingFile::keep : MissingFile::refuse,
                           &other_files);
    if (!other_files.empty()) say(tool, Tone::note, words_of_others(other_files));
    refuse_repeated(inputs);
    if (!tool_team().is_alone()) refuse_stdin(inputs);
  }
  return broadcast(tool_team(), std::move(inputs));
}

CLI::Option* add_keep_going(CLI::App& app, bool& keep_going) {
  return app
      .add_flag("--keep-going", keep_going,
                "Leave out unreadable inputs and report them\n"
                "Without this option an input that cannot be read ends the run.")
      ->group(kCommonGroup);
}

CLI::Option* add_verbose(CLI::App& app, Verbosity& verbosity) {
  return app
      .add_flag_callback(
          "-v,--verbose", [&verbosity] { verbosity = Verbosity::verbose; },
          "Also report harmless irregularities")
      ->group(kCommonGroup);
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& count,
                       const std::string& help) {
  return add_parsed(app, name, count, parse_positive, "a number from 1 up", help)->type_name("N");
}

CLI::Option* add_size(CLI::App& app, const std::string& name, std::uint64_t& bytes,
                      const std::string& help) {
  return add_parsed(app, name, bytes, parse_bytes, "a size (try 64MiB)", help)->type_name("SIZE");
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::int64_t& ns,
                          const std::string& help) {
  return add_parsed(app, name, ns, parse_duration, "a time (try 1.5ms)", help)->type_name("TIME");
}

}  // namespace traceloom
