#include "common/options.h"

#include "base/error.h"
#include "base/units.h"
#include "common/did_you_mean.h"
#include "common/help_formatter.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace traceloom {
namespace {

constexpr unsigned kMaxThreads = 1024;
constexpr char kInputGroup[] = "Input";
constexpr char kOutputGroup[] = "Output";

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

// An option whose text `read` understands or not; `wanted` goes on from "'x' is not ".
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
                  "Trace files (.json, .json.gz), folders of them, or patterns; - is stdin")
      ->required();
}

CLI::Option* add_output(CLI::App& app, std::string& path) {
  return app
      .add_option("-o,--output", path, "Where to write; a name in .gz compresses, - is stdout")
      ->type_name("FILE")
      ->group(kOutputGroup);
}

CLI::Option* add_threads(CLI::App& app, unsigned& threads) {
  return add_parsed(app, "-j,--threads", threads, parse_threads,
                    fmt::format("a number of threads from 0 to {}", kMaxThreads),
                    "How many threads to use; 0: as many as there are cores")
      ->type_name("N")
      ->default_str(std::to_string(threads));
}

CLI::Option* add_format(CLI::App& app, TableFormat& format) {
  const auto take = [&format](const CLI::results_t& results) {
    format = read_format(results.back());
    return true;
  };
  return app.add_option("--format", take, "Form of the tables: table, csv, json or md")
      ->type_name("FORM")
      ->default_str(std::string(kTableFormatNames[static_cast<std::size_t>(format)]))
      ->group(kOutputGroup);
}

CLI::Option* add_unit(CLI::App& app, TimeUnit& unit) {
  const auto take = [&unit](const CLI::results_t& results) {
    unit = read_unit(results.back());
    return true;
  };
  return app
      .add_option("--unit", take,
                  fmt::format("Unit of times in tables: {}; CSV and JSON are in ns",
                              fmt::join(kTimeUnitNames, ", ")))
      ->type_name("UNIT")
      ->default_str(std::string(kTimeUnitNames[static_cast<std::size_t>(unit)]))
      ->group("Rows");
}

CLI::Option* add_wide(CLI::App& app, bool& wide) {
  return app
      .add_flag("--wide", wide,
                "Tables with all columns, however long the lines; else those that matter most are "
                "shown, as many as the terminal has room for (in files and pipes 120 characters, "
                "there with names in full). CSV and JSON always have all")
      ->group(kOutputGroup);
}

CLI::Option* add_csv_safe(CLI::App& app, bool& csv_safe) {
  return app
      .add_flag("--csv-safe", csv_safe,
                "With --format csv: an apostrophe before names that begin with = + - @, a tab or "
                "the end of a line, which a spreadsheet would run")
      ->group(kOutputGroup);
}

CLI::Option* add_strict(CLI::App& app, bool& strict) {
  return app
      .add_flag("--strict", strict,
                "Exit with 1 when anything that an input said was lost in a repair")
      ->group(kInputGroup);
}

std::vector<Input> find_inputs(const std::vector<std::string>& arguments, bool keep_going) {
  std::vector<Input> inputs =
      expand_inputs(arguments, keep_going ? MissingFile::keep : MissingFile::refuse);
  refuse_repeated(inputs);
  return inputs;
}

CLI::Option* add_keep_going(CLI::App& app, bool& keep_going) {
  return app
      .add_flag("--keep-going", keep_going,
                "Go on without an input that cannot be read, and say so in the output")
      ->group(kInputGroup);
}

CLI::Option* add_verbose(CLI::App& app, Verbosity& verbosity) {
  return app
      .add_flag_callback(
          "-v,--verbose", [&verbosity] { verbosity = Verbosity::verbose; },
          "Tell harmless oddities of the inputs too")
      ->group(kGeneralGroup);
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
