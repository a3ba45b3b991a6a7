#include "common/parse.h"

#include "base/error.h"
#include "common/did_you_mean.h"
#include "common/reference.h"
#include "common/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

namespace traceloom {
namespace {

constexpr std::size_t kMinHelpWidth = 60;
constexpr std::string_view kGenerate =
    "--generate";                           // --help does not list it: only the build uses it
constexpr std::size_t kMaxHelpWidth = 100;  // longer lines are hard to read

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

}  // namespace traceloom
