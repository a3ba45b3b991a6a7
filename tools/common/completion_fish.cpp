#include "common/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace traceloom {
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

}  // namespace traceloom
