#include "common/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace traceloom {
namespace {

// The meaning of ExitCode, for the commands that read traces.
constexpr std::string_view kExitStatus[][2] = {
    {"0", "The work is done."},
    {"1", "The answer is no: a gate failed, or a repair lost data (--strict, check)."},
    {"2",
     "Trouble: wrong usage, an unreadable input, a full disk, or a question that the traces "
     "cannot answer."}};

// Returns what prints this letter as it stands in the source: troff obeys a backslash, and draws
// typographic signs for a hyphen and for quotes.
std::string_view troff_letter(const char& letter) {
  switch (letter) {
    case '\\':
      return "\\(rs";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return {&letter, 1};
  }
}

// Returns the text with everything quoted that troff would obey. A dot that begins a line is a
// request.
std::string troff(std::string_view text) {
  std::string out;
  for (const char& letter : text) {
    if (letter == '.' && (out.empty() || out.back() == '\n')) out += "\\&";
    out += troff_letter(letter);
  }
  return out;
}

std::string troff_bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", troff(text));
}

// Returns "\fB\-o\fR, \fB\-\-output\fR FILE".
std::string label_of(const OptionSpec& option) {
  std::string text;
  for (const std::string& name : option.names)
    text += (text.empty() ? "" : ", ") + troff_bold(name);
  return text + troff(value_of(option));
}

std::string option_entries(const std::vector<OptionSpec>& options) {
  std::string out;
  for (const OptionSpec& option : options) {
    out += fmt::format(".TP\n{}\n{}", label_of(option), troff(option.help));
    if (!option.default_value.empty())
      out += fmt::format(" [default: {}]", troff(option.default_value));
    out += "\n";
    if (!option.details.empty()) out += ".br\n" + troff(option.details) + "\n";
  }
  return out;
}

std::string man_options(const CommandSpec& command) {
  if (command.groups.empty()) return "";
  std::string out = ".SH OPTIONS\n" + option_entries(command.arguments);
  for (const OptionGroup& group : command.groups)
    out += fmt::format(".SS {}\n", troff(group.title)) + option_entries(group.options);
  return out;
}

std::string man_commands(const CommandSpec& command) {
  std::string out;
  std::string group;
  for (const CommandSpec& one : command.commands) {
    if (out.empty()) out = ".SH COMMANDS\n";
    if (one.group != group && one.group != "Subcommands") out += ".SS " + troff(one.group) + "\n";
    group = one.group;
    out += fmt::format(".TP\n{}(1)\n{}\n", troff_bold(page_name(one)), troff(one.summary));
  }
  return out;
}

std::string man_examples(const CommandSpec& command) {
  std::string out;
  for (const Example& example : command.examples) {
    if (out.empty()) out = ".SH EXAMPLES\n";
    out += fmt::format(".PP\n# {}\n.br\n{}\n", troff(example.what), troff_bold(example.command));
  }
  return out;
}

bool can_lose_data(const CommandSpec& command) {
  const auto is_strict = [](const OptionSpec& option) { return option.names.back() == "--strict"; };
  return std::any_of(command.groups.begin(), command.groups.end(), [&](const OptionGroup& group) {
    return std::any_of(group.options.begin(), group.options.end(), is_strict);
  });
}

std::string exit_status(const CommandSpec& command) {
  if (!can_lose_data(command)) return "";
  std::string out = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : kExitStatus)
    out += fmt::format(".TP\n.B {}\n{}\n", code, troff(meaning));
  return out;
}

std::string see_also(const CommandSpec& command, const std::vector<std::string>& related) {
  std::string out = ".SH SEE ALSO\n";
  for (const std::string& name : related)
    out += fmt::format("{}{}(1)", &name == &related.front() ? "" : ", ", troff_bold(name));
  if (!related.empty()) out += "\n";
  if (!command.page.empty())
    out += fmt::format(
        ".PP\nDefinitions: {}, in the documentation of traceloom (usually "
        "/usr/share/doc/traceloom)\n",
        troff(command.page));
  return out;
}

}  // namespace

std::string page_name(const CommandSpec& command) {
  std::string name = command.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const CommandSpec& command, const std::vector<std::string>& related) {
  const std::string name = page_name(command);
  std::string title = name;
  for (char& letter : title) letter = static_cast<char>(std::toupper(letter));
  std::string out =
      fmt::format(".TH {} 1 \"\" \"traceloom " TRACELOOM_VERSION "\" Traceloom\n", troff(title));
  out += fmt::format(".SH NAME\n{} \\- {}\n", troff(name), troff(command.summary));
  out += fmt::format(".SH SYNOPSIS\n{} {}\n", troff_bold(command.path), troff(command.synopsis));
  out += fmt::format(".SH DESCRIPTION\n{}\n",
                     troff(command.details.empty() ? command.summary : command.details));
  return out + man_commands(command) + man_options(command) + man_examples(command) +
         exit_status(command) + see_also(command, related);
}

}  // namespace traceloom
