#include "common/command_line.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "base/units.h"
#include "common/option_values.h"
#include "common/reference.h"
#include "common/run_tool.h"
#include "team/wire.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>

namespace traceloom {
namespace {

constexpr std::size_t kMinHelpWidth = 60;
constexpr std::size_t kMaxHelpWidth = 100;  // longer lines are hard to read
// --help does not list these: only the build and the tests use them.
constexpr std::string_view kGenerate = "--generate";
constexpr std::string_view kListCommands = "--list-commands";

// Returns the command that was typed, or `app` itself if it has none.
const CLI::App& selected(const CLI::App& app) {
  const std::vector<CLI::App*> commands = app.get_subcommands();
  return commands.empty() ? app : selected(*commands.back());
}

// Returns "; see trace-stats summarize --help".
std::string see_help(const CLI::App& command) {
  std::string path = command.get_name();
  for (const CLI::App* app = command.get_parent(); app != nullptr; app = app->get_parent())
    path = fmt::format("{} {}", app->get_name(), path);
  return "; see " + path + " --help";
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent())
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames())
        if (!option->get_group().empty()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  return names;
}

// Appends the nearest known word to the message, or else where to find help.
std::string with_advice(const std::string& problem, const std::string& word,
                        const std::vector<std::string>& known, const CLI::App& command) {
  const std::string suggestion = did_you_mean(word, known);
  return problem + (suggestion.empty() ? see_help(command) : suggestion);
}

// Returns the first word that CLI11 could not place: one with a dash, or one without.
std::optional<std::string> left_over(const CLI::App& app, bool dash) {
  for (const std::string& word : app.remaining(true))
    if (word != "--" && (word.size() > 1 && word[0] == '-') == dash) return word;
  return std::nullopt;
}

std::string explain_missing_command(const CLI::App& command) {
  const std::vector<std::string> known = command_names(command);
  const std::optional<std::string> word = left_over(command, false);
  if (word) return with_advice(fmt::format("unknown command '{}'", *word), *word, known, command);
  return fmt::format("a command is missing ({}){}", fmt::join(known, ", "), see_help(command));
}

std::string explain_missing_option(const CLI::App& command, const std::string& fallback) {
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent())
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_required() || option->count() > 0) continue;
      const std::string name = option->get_name();
      return fmt::format("{} {} is missing{}", option->get_positional() ? "argument" : "option",
                         name, see_help(command));
    }
  return fallback + see_help(command);
}

// The message of CLI11 begins with "NAME: ", or it is "mpi was given a disallowed flag override".
std::string explain_mismatch(const std::string& text, const CLI::App& command) {
  if (const std::size_t end = text.find(" was given a disallowed flag"); end != std::string::npos)
    return fmt::format("--{} takes no value{}", text.substr(0, end), see_help(command));
  const std::string name = text.substr(0, text.find(':'));
  if (text.find("At Most") != std::string::npos)
    return fmt::format("{} is given more than once", name);
  return fmt::format("{} needs a value{}", name, see_help(command));
}

// The message of CLI11 is "Could not convert: --top = abc".
std::string explain_conversion(const std::string& text, const CLI::App& command) {
  constexpr std::string_view kStart = "Could not convert: ";
  const std::size_t equals = text.find(" = ");
  if (!text.starts_with(kStart) || equals == std::string::npos) return text + see_help(command);
  return fmt::format("{}: '{}' is not a number", text.substr(kStart.size(), equals - kStart.size()),
                     text.substr(equals + 3));
}

// The message of CLI11 is "--a excludes --b" or "--a requires --b".
std::string explain_relation(const std::string& text) {
  const std::size_t first_end = text.find(' ');
  const std::size_t second = text.rfind(' ') + 1;
  const std::string first_name = text.substr(0, first_end);
  if (text.find(" excludes ") != std::string::npos)
    return fmt::format("{} and {} exclude each other", first_name, text.substr(second));
  return fmt::format("{} needs {} too", first_name, text.substr(second));
}

std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = selected(app);
  std::string text = error.what();
  // If something is missing, a misspelt option is often the reason.
  if (const std::optional<std::string> word = left_over(app, true)) {
    const std::string name = word->substr(0, word->find('='));
    return with_advice("unknown option " + name, name, option_names(command), command);
  }
  if (error.get_name() == "RequiredError") {
    if (command.get_require_subcommand_min() > 0) return explain_missing_command(command);
    return explain_missing_option(command, text);
  }
  if (error.get_name() == "ArgumentMismatch") return explain_mismatch(text, command);
  if (error.get_name() == "ConversionError") return explain_conversion(text, command);
  if (error.get_name() == "ExcludesError" || error.get_name() == "RequiresError")
    return explain_relation(text);
  if (const std::optional<std::string> word = left_over(app, false))
    return fmt::format("unexpected argument '{}'{}", *word, see_help(command));
  return text;
}

// An empty value mostly comes from a shell variable that is not set. Without this check the option
// would be ignored, and nothing would be filtered, for example.
void refuse_empty_values(const CLI::App& command) {
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent())
    for (const CLI::Option* option : app->get_options()) {
      const CLI::results_t& values = option->results();
      // If the value may be left out, CLI11 stores an empty one for a missing one.
      const bool needs_value = option->get_items_expected_min() > 0;
      if (needs_value && !option->get_positional() &&
          std::find(values.begin(), values.end(), "") != values.end())
        throw UsageError(fmt::format("{} needs a value{}", option->get_name(), see_help(command)));
    }
}

// Prints "gpu TRACE --rank --steps": each command with the arguments and options that it has.
void list_commands(const CommandSpec& tool) {
  for (const CommandSpec& command : tool.commands) {
    std::string line = command.name;
    for (const OptionSpec& argument : command.arguments) line += " " + argument.names.front();
    for (const OptionGroup& group : command.groups)
      for (const OptionSpec& option : group.options) line += " " + option.names.back();
    fmt::print("{}\n", line);
  }
}

// Commands inherit -h/--help, but not its group.
void group_help_flags(CLI::App& app) {
  if (app.get_help_ptr() != nullptr) app.get_help_ptr()->group(kCommonGroup);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    group_help_flags(*command);
}

}  // namespace

void set_up(CLI::App& app, const std::string& name) {
  app.name(name);
  app.set_help_flag("-h,--help", "Show this help");
  app.set_version_flag("--version", name + " " TRACELOOM_VERSION, "Show the version")
      ->group(kCommonGroup);
  const int terminal = terminal_width(Stream::out);
  const std::size_t width = terminal == 0 ? HelpStyle{}.width : static_cast<std::size_t>(terminal);
  set_help_style(app, {.colour = wants_colour(Stream::out),
                       .width = std::clamp(width, kMinHelpWidth, kMaxHelpWidth)});
}

bool parse(CLI::App& app, int argc, const char* const* argv) {
  group_help_flags(app);
  if (argc == 3 && std::string_view(argv[1]) == kGenerate) {
    write_reference(spec_of(app, app.get_name()), argv[2]);
    return false;
  }
  if (argc == 2 && std::string_view(argv[1]) == kListCommands) {
    list_commands(spec_of(app, app.get_name()));
    return false;
  }
  try {
    app.parse(argc, argv);
    refuse_empty_values(selected(app));
    return true;
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
  } catch (const CLI::ParseError& error) {
    throw UsageError(explain(app, error));
  }
  return false;
}

namespace {

constexpr unsigned kMaxThreads = 1024;

std::optional<unsigned> parse_threads(const std::string& text) {
  const auto threads = whole_number<unsigned>(text);
  return threads && *threads <= kMaxThreads ? threads : std::nullopt;
}

std::optional<std::size_t> parse_positive(const std::string& text) {
  const auto count = whole_number<std::size_t>(text);
  return count && *count > 0 ? count : std::nullopt;
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
      .add_option(
          "TRACE", inputs,
          "Trace files, folders or patterns; - is stdin\n"
          "A trace file is JSON as Chrome defines it, plain, gzip or zstd. RANK=TRACE names the "
          "rank of a file that does not say it.")
      ->required();
}

CLI::Option* add_output(CLI::App& app, std::string& path) {
  return app.add_option("-o,--output", path, "Write to FILE; .gz or .zst packs, - is stdout")
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

std::string words_of_names(const std::vector<std::string>& files) {
  constexpr std::size_t kMostNamed = 4;
  const std::size_t named = std::min(files.size(), kMostNamed);
  return fmt::format(
      "left out {} by {}; name one to have it read: {}{}", count_of(files.size(), "file"),
      plural(files.size(), "its name", "their names"),
      fmt::join(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(named), ", "),
      files.size() > named ? ", ..." : "");
}

// One note a kind: "left out 8 reports of memory trackers, which trace-stats memory reads: ...".
void say_kinds(std::string_view tool, const std::vector<OtherFile>& files) {
  std::map<FileKind, std::vector<std::string>> by_kind;
  for (const OtherFile& file : files) by_kind[file.kind].push_back(file.path);
  for (const auto& [kind, paths] : by_kind) {
    const FileKindWords& words = describe(kind);
    const std::string what =
        paths.size() == 1 ? std::string(words.one) : fmt::format("{} {}", paths.size(), words.many);
    say(tool, Tone::note,
        fmt::format("left out {}, which {}: {}{}", what, words.what_to_do, paths.front(),
                    paths.size() > 1 ? ", ..." : ""));
  }
}

}  // namespace

std::vector<Input> find_inputs(std::string_view tool, const std::vector<std::string>& arguments,
                               bool keep_going, std::vector<OtherFile>* memory,
                               bool (*takes)(const OtherFile&)) {
  OtherFiles others;
  others.takes_memory = memory != nullptr;
  std::vector<Input> inputs;
  if (tool_team().is_first()) {
    inputs =
        expand_inputs(arguments, keep_going ? MissingFile::keep : MissingFile::refuse, &others);
    if (!others.no_traces.empty()) say(tool, Tone::note, words_of_others(others.no_traces));
    if (!others.other_names.empty()) say(tool, Tone::note, words_of_names(others.other_names));
    if (memory != nullptr) {
      const auto left_out =
          std::ranges::stable_partition(others.of_kind, [&](const OtherFile& file) {
            return takes != nullptr ? takes(file) : is_memory_kind(file.kind);
          });
      memory->assign(others.of_kind.begin(), left_out.begin());
      others.of_kind.erase(others.of_kind.begin(), left_out.begin());
    }
    say_kinds(tool, others.of_kind);
    if (takes != nullptr && inputs.empty())
      throw UsageError(
          "none of the inputs is a trace; trace-stats memory reads files about memory");
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
