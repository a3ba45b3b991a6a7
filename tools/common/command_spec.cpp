#include "common/command_spec.h"

#include "common/help_formatter.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

constexpr std::string_view kListMark = ",...";

// Returns the first line and the lines after it.
std::pair<std::string, std::string> split_description(const std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

OptionSpec option_spec(const CLI::Option& option) {
  OptionSpec spec;
  if (option.get_positional()) spec.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) spec.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) spec.names.push_back("--" + name);
  if (option.get_type_size() != 0) spec.value = option.get_type_name();
  spec.takes_many = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  spec.is_required = option.get_required();
  spec.may_lack_value = option.get_items_expected_min() == 0;
  std::tie(spec.help, spec.details) = split_description(option.get_description());
  spec.default_value = option.get_default_str();
  return spec;
}

// Returns the options of a group, with --help and --version after the others.
OptionGroup group_of(const CLI::App& app, const std::string& title) {
  std::vector<const CLI::Option*> options = app.get_options([&](const CLI::Option* option) {
    return option->get_group() == title && option->nonpositional();
  });
  std::stable_partition(options.begin(), options.end(), [&](const CLI::Option* option) {
    return option != app.get_help_ptr() && option != app.get_version_ptr();
  });
  OptionGroup group{title, {}};
  for (const CLI::Option* option : options) group.options.push_back(option_spec(*option));
  return group;
}

int place_of(const std::string& group) {
  return group == kAdvancedGroup ? 2 : group == kCommonGroup ? 1 : 0;
}

std::vector<OptionGroup> groups_of(const CLI::App& app) {
  std::vector<std::string> titles = app.get_groups();
  std::stable_sort(titles.begin(), titles.end(), [](const std::string& a, const std::string& b) {
    return place_of(a) < place_of(b);
  });
  std::vector<OptionGroup> groups;
  for (const std::string& title : titles) {
    if (title.empty()) continue;  // hidden options
    groups.push_back(group_of(app, title));
    if (groups.back().options.empty()) groups.pop_back();
  }
  return groups;
}

std::string synopsis_of(const CommandSpec& command) {
  if (!command.commands.empty()) return "COMMAND [options]";
  std::string text = "[options]";
  for (const OptionSpec& argument : command.arguments)
    text += " " + (argument.is_required ? usage_of(argument) : "[" + usage_of(argument) + "]");
  return text;
}

}  // namespace

CommandSpec spec_of(const CLI::App& app, const std::string& path) {
  const HelpNotes notes = help_notes(app);
  CommandSpec spec;
  spec.path = path;
  spec.name = app.get_name();
  spec.group = app.get_group();
  std::tie(spec.summary, spec.details) = split_description(app.get_description());
  spec.page = notes.page;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() && !option->get_group().empty())
      spec.arguments.push_back(option_spec(*option));
  spec.groups = groups_of(app);
  spec.examples = notes.examples;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_name().empty() && !command->get_group().empty())
      spec.commands.push_back(spec_of(*command, path + " " + command->get_name()));
  spec.synopsis = notes.synopsis.empty() ? synopsis_of(spec) : notes.synopsis;
  return spec;
}

std::vector<std::string> alternatives_of(const OptionSpec& option) {
  std::string_view rest = option.value;
  if (rest.ends_with(kListMark)) rest.remove_suffix(kListMark.size());
  std::vector<std::string> words;
  if (rest.find('|') == std::string_view::npos) return words;
  while (true) {
    const std::size_t end = rest.find('|');
    const std::string_view word = rest.substr(0, end);
    const bool is_placeholder = word.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 0;
    if (!is_placeholder) words.emplace_back(word);
    if (end == std::string_view::npos) return words;
    rest.remove_prefix(end + 1);
  }
}

bool is_list(const OptionSpec& option) {
  return option.value.ends_with(kListMark) && !alternatives_of(option).empty();
}

bool is_argument(const OptionSpec& option) {
  return !option.names.front().starts_with('-');
}

std::string value_of(const OptionSpec& option) {
  if (is_argument(option)) return option.takes_many ? "..." : "";
  if (option.value.empty()) return "";
  return option.may_lack_value ? " [" + option.value + "]" : " " + option.value;
}

std::string usage_of(const OptionSpec& option) {
  std::string text;
  for (const std::string& name : option.names) text += (text.empty() ? "" : ", ") + name;
  return text + value_of(option);
}

}  // namespace traceloom
