#include "common/reference.h"

#include "output/file_sink.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string_view>

namespace traceloom {
namespace {

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

std::string exit_status(const CommandSpec& command) {
  if (!reads_traces(command)) return "";
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

namespace {

// The script, where {0} is the tool, {1} the name of its function, {2} a branch that finds the
// command, and {3} a branch for each command.
constexpr char kFrame[] = R"(# Completion of {0} for bash.
{1}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} command='' word
  # "--option=value" is three words.
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]] && ((COMP_CWORD > 1)); then
    prev=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in
      --) command=--; break ;;
{2}    esac
  done
  case $command in
    --) {1}_files ;;
{3}  esac
}}

{1}_words() {{ mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur"); }}

# In a list only the part after the last comma is completed.
{1}_list() {{
  local start=''
  [[ $cur == *,* ]] && start=${{cur%,*}},
  mapfile -t COMPREPLY < <(compgen -P "$start" -W "$*" -- "${{cur##*,}}")
}}

{1}_files() {{
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen "${{1:--f}}" -- "$cur")
}}

complete -F {1} {0}
)";

std::string bash_names(const OptionSpec& option) {
  return fmt::format("{}", fmt::join(option.names, "|"));
}

// Returns the command that offers the values of an option; ":" if any text may be a value.
std::string bash_value(const OptionSpec& option, const std::string& function) {
  const std::vector<std::string> words = alternatives_of(option);
  if (!words.empty())
    return fmt::format("{}_{} {}", function, is_list(option) ? "list" : "words",
                       fmt::join(words, " "));
  if (option.value == "FILE") return function + "_files";
  if (option.value == "DIR") return function + "_files -d";
  return ":";
}

// Returns a branch of the case statement, which completes the words of this command.
std::string bash_branch(const CommandSpec& command, const std::string& pattern,
                        const std::string& function) {
  std::string values;
  std::string names;
  std::vector<std::string> free;
  for (const OptionGroup& group : command.groups)
    for (const OptionSpec& option : group.options) {
      names += fmt::format("{} ", fmt::join(option.names, " "));
      if (option.value.empty() || option.may_lack_value) continue;
      const std::string words = bash_value(option, function);
      if (words == ":")
        free.push_back(bash_names(option));
      else
        values += fmt::format("        {}) {}; return ;;\n", bash_names(option), words);
    }
  if (!free.empty()) values += fmt::format("        {}) return ;;\n", fmt::join(free, "|"));
  for (const CommandSpec& one : command.commands) names += one.name + " ";
  if (!names.empty()) names.pop_back();
  const std::string else_words = command.arguments.empty()
                                     ? fmt::format("{}_words '{}'", function, names)
                                     : fmt::format(
                                           "if [[ $cur == -* ]]; then {0}_words '{1}'; "
                                           "else {0}_files; fi",
                                           function, names);
  return fmt::format("    {}) case $prev in\n{}        *) {} ;;\n      esac ;;\n", pattern, values,
                     else_words);
}

}  // namespace

std::string bash_completion(const CommandSpec& tool) {
  std::string function = "_" + tool.name;
  std::replace(function.begin(), function.end(), '-', '_');
  std::vector<std::string> commands;
  std::string branches;
  for (const CommandSpec& command : tool.commands) {
    commands.push_back(command.name);
    branches += bash_branch(command, command.name, function);
  }
  branches += bash_branch(tool, "*", function);
  const std::string finds_command =
      commands.empty()
          ? ""
          : fmt::format("      {}) command=$word; break ;;\n", fmt::join(commands, "|"));
  return fmt::format(kFrame, tool.name, function, finds_command, branches);
}

namespace {

// Quotes a text that stands in single quotes.
std::string fish_text(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') out += '\\';
    out += letter;
  }
  return out;
}

// Returns " -r -F" for a file, " -x -a 'table csv'" for known words.
std::string fish_value(const OptionSpec& option) {
  if (option.value.empty() || option.may_lack_value) return "";
  const std::vector<std::string> words = alternatives_of(option);
  if (is_list(option)) return fmt::format(" -x -a '(__fish_append , {})'", fmt::join(words, " "));
  if (!words.empty()) return fmt::format(" -x -a '{}'", fmt::join(words, " "));
  if (option.value == "FILE") return " -r -F";
  if (option.value == "DIR") return " -x -a '(__fish_complete_directories)'";
  return " -x";
}

std::string fish_options(const CommandSpec& command, const std::string& start) {
  std::string out;
  for (const OptionGroup& group : command.groups)
    for (const OptionSpec& option : group.options) {
      out += start;
      for (const std::string& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      out += fmt::format("{} -d '{}'\n", fish_value(option), fish_text(option.help));
    }
  return out;
}

}  // namespace

std::string fish_completion(const CommandSpec& tool) {
  std::string out = fmt::format("# Completion of {} for fish.\n", tool.name);
  if (tool.commands.empty())
    return out + fish_options(tool, fmt::format("complete -c {}", tool.name));
  const std::string first = fmt::format("complete -c {} -n __fish_use_subcommand", tool.name);
  for (const CommandSpec& command : tool.commands)
    out += fmt::format("{} -f -a {} -d '{}'\n", first, command.name, fish_text(command.summary));
  out += fish_options(tool, first);
  for (const CommandSpec& command : tool.commands)
    out += fish_options(command, fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}'",
                                             tool.name, command.name));
  return out;
}

namespace {

// Quotes a text that stands in single quotes and is read by _arguments, which interprets [, ] and
// :.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\'')
      out += "'\\''";
    else if (letter == '[' || letter == ']' || letter == ':' || letter == '\\')
      out += fmt::format("\\{}", letter);
    else
      out += letter;
  }
  return out;
}

// Returns ":FORM:(table csv json)": the name of the value and its alternatives.
std::string zsh_value(const OptionSpec& option) {
  if (option.value.empty()) return "";
  const std::string start = option.may_lack_value ? "::" : ":";
  const std::vector<std::string> words = alternatives_of(option);
  if (is_list(option))
    return fmt::format("{}value:_sequence compadd - {}", start, fmt::join(words, " "));
  if (!words.empty()) return fmt::format("{}value:({})", start, fmt::join(words, " "));
  const char* const action = option.value == "FILE"  ? "_files"
                             : option.value == "DIR" ? "_files -/"
                                                     : " ";
  return fmt::format("{}{}:{}", start, zsh_text(option.value), action);
}

// Returns "'(-o --output)'{-o,--output=}'[help]:FILE:_files'".
std::string zsh_option(const OptionSpec& option, const std::string& indent) {
  const std::string mark = option.takes_many ? "*" : "";
  const std::string help = fmt::format("[{}]{}", zsh_text(option.help), zsh_value(option));
  const bool has_value = !option.value.empty();
  if (option.names.size() == 1)
    return fmt::format("{}'{}{}{}{}' \\\n", indent, mark, option.names[0], has_value ? "=" : "",
                       help);
  return fmt::format("{}'({})'{{{},{}{}}}'{}' \\\n", indent, fmt::join(option.names, " "),
                     option.names[0], option.names[1], has_value ? "=" : "", help);
}

std::string zsh_options(const CommandSpec& command, const std::string& indent) {
  std::string out;
  for (const OptionGroup& group : command.groups)
    for (const OptionSpec& option : group.options) out += zsh_option(option, indent);
  return out;
}

std::string zsh_files(const CommandSpec& command, const std::string& indent) {
  return command.arguments.empty()
             ? indent + "'*: :_files'\n"
             : fmt::format("{}'*:{}:_files'\n", indent, zsh_text(command.arguments[0].names[0]));
}

std::string zsh_commands(const CommandSpec& tool) {
  std::string out = "  case $state in\n    command)\n      local -a commands=(\n";
  for (const CommandSpec& command : tool.commands)
    out += fmt::format("        '{}:{}'\n", command.name, zsh_text(command.summary));
  out += "      )\n      _describe -t commands command commands ;;\n";
  out += "    arguments)\n      case $line[1] in\n";
  for (const CommandSpec& command : tool.commands)
    out += fmt::format("        {})\n          _arguments -s \\\n{}{}          ;;\n", command.name,
                       zsh_options(command, "            "), zsh_files(command, "            "));
  return out + "      esac ;;\n  esac\n";
}

}  // namespace

std::string zsh_completion(const CommandSpec& tool) {
  std::string out =
      fmt::format("#compdef {0}\n# Completion of {0} for zsh.\n_{0}() {{\n", tool.name);
  if (tool.commands.empty())
    out += "  _arguments -s \\\n" + zsh_options(tool, "    ") + zsh_files(tool, "    ");
  else
    out +=
        "  local context state state_descr line\n  typeset -A opt_args\n  _arguments -s -C \\\n" +
        zsh_options(tool, "    ") + "    '1: :->command' \\\n    '*:: :->arguments'\n" +
        zsh_commands(tool);
  return out + fmt::format("}}\n_{} \"$@\"\n", tool.name);
}

namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  const std::unique_ptr<Sink> file = open_file_sink(path.string());
  file->write(text);
  file->close();
}

void write_man_pages(const CommandSpec& tool, const std::filesystem::path& folder) {
  std::vector<std::string> related;
  for (const char* const name : {"trace-merge", "trace-record", "trace-stats"})
    if (name != tool.name) related.emplace_back(name);
  write_file(folder / (page_name(tool) + ".1"), man_page(tool, related));
  for (const CommandSpec& command : tool.commands)
    write_file(folder / (page_name(command) + ".1"), man_page(command, {tool.name}));
}

}  // namespace

void write_reference(const CommandSpec& tool, const std::string& folder) {
  const std::filesystem::path share = folder;
  write_man_pages(tool, share / "man/man1");
  write_file(share / "bash-completion/completions" / tool.name, bash_completion(tool));
  write_file(share / "zsh/site-functions" / ("_" + tool.name), zsh_completion(tool));
  write_file(share / "fish/vendor_completions.d" / (tool.name + ".fish"), fish_completion(tool));
}

}  // namespace traceloom
