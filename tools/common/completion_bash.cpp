#include "common/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace traceloom {
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

}  // namespace traceloom
