#include "common/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace traceloom {
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

}  // namespace traceloom
