#include "common/command_spec.h"

#include "base/units.h"
#include "common/terminal.h"
#include "table/table.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
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

bool reads_traces(const CommandSpec& command) {
  const auto is_strict = [](const OptionSpec& option) { return option.names.back() == "--strict"; };
  const auto has_strict = [&](const OptionGroup& group) {
    return std::any_of(group.options.begin(), group.options.end(), is_strict);
  };
  return std::any_of(command.groups.begin(), command.groups.end(), has_strict) ||
         std::any_of(command.commands.begin(), command.commands.end(), reads_traces);
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

namespace {

constexpr std::size_t kIndent = 2;
// Descriptions of options start in this column, or further right if a name in the group needs more
// room. A name above kWidestName gets a line of its own.
constexpr std::size_t kTextColumn = 28;
constexpr std::size_t kWidestName = 32;
constexpr char kHardSpace = '\x1f';  // wrap() does not break here: "[default: all cores]"

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines = wrap_words(text, width);
  for (std::string& line : lines) std::replace(line.begin(), line.end(), kHardSpace, ' ');
  return lines;
}

// Returns "TRACE...", "-o, --output FILE", or "    --strict": long names are aligned.
std::string left_side(const OptionSpec& option) {
  return (option.names.front().starts_with("--") ? "    " : "") + usage_of(option);
}

std::string right_side(const OptionSpec& option) {
  if (option.default_value.empty()) return option.help;
  std::string note = "[default: " + option.default_value + "]";
  std::replace(note.begin(), note.end(), ' ', kHardSpace);
  return option.help + " " + note;
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(const HelpStyle& style) : paint_(style.colour), width_(style.width) {}

  std::string make_help(const CLI::App* app, std::string path, CLI::AppFormatMode) const override {
    const CommandSpec spec = spec_of(*app, path);
    std::string out = paragraph(spec.summary);
    if (!spec.details.empty()) out += "\n" + paragraph(spec.details);
    out += "\n" + paint_.bold("Usage:") + " " + path + " " + spec.synopsis;
    if (is_list(spec)) out += paint_.dim("   (COMMAND --help shows its options)");
    out += "\n" + examples(spec) + options("Arguments", spec.arguments) + commands(spec);
    for (const OptionGroup& group : spec.groups) out += options(group.title, group.options);
    const bool has_codes = is_list(spec) && reads_traces(spec);
    if (has_codes) out += "\n" + paragraph(exit_codes());
    if (!spec.page.empty()) out += (has_codes ? "" : "\n") + paragraph("Definitions: " + spec.page);
    return out;
  }

  std::map<const CLI::App*, HelpNotes> notes;

 private:
  // The list of a tool's commands has to fit on one screen, so the rest is short.
  static bool is_list(const CommandSpec& spec) { return spec.commands.size() > 1; }

  // Returns "Exit codes: 0 done, 1 the answer is no, ...": the manual page has the rest.
  static std::string exit_codes() {
    std::string out = "Exit codes:";
    for (const auto& [code, meaning] : kExitStatus)
      out += fmt::format("{} {} {}", out.back() == ':' ? "" : ",", code,
                         meaning.substr(0, meaning.find(':')));
    return out;
  }

  std::string paragraph(std::string_view text) const {
    std::string out;
    for (const std::string& line : wrap(text, width_)) out += line + "\n";
    return out;
  }

  std::string heading(std::string_view text) const {
    return "\n" + paint_.bold(fmt::format("{}:", text)) + "\n";
  }

  // Returns one entry of a list: the name at the left, its description wrapped at the right.
  std::string entry(const std::string& name, std::string_view text, std::size_t text_column) const {
    std::string out = std::string(kIndent, ' ') + paint_.option(name);
    std::size_t column = kIndent + text_width(name);
    for (const std::string& line : wrap(text, width_ - text_column)) {
      if (column + 2 > text_column) {
        out += '\n';
        column = 0;
      }
      out += std::string(text_column - column, ' ') + line;
      column = text_column;
    }
    return out + "\n";
  }

  std::string examples(const CommandSpec& spec) const {
    if (spec.examples.empty()) return "";
    if (is_list(spec) && spec.examples.size() == 1) {
      const Example& only = spec.examples.front();
      return paint_.bold("Example:") + " " + only.command + paint_.dim("   # " + only.what) + "\n";
    }
    std::string out = heading(plural(spec.examples.size(), "Example"));
    for (const Example& example : spec.examples)
      for (const std::string& line : {paint_.dim("# " + example.what), example.command})
        out += std::string(kIndent, ' ') + line + "\n";
    return out;
  }

  std::string options(const std::string& title, const std::vector<OptionSpec>& options) const {
    if (options.empty()) return "";
    std::size_t column = kTextColumn;
    for (const OptionSpec& option : options)
      if (const std::size_t name = text_width(left_side(option)); name <= kWidestName)
        column = std::max(column, kIndent + name + 2);
    std::string out = heading(title);
    for (const OptionSpec& option : options)
      out += entry(left_side(option), right_side(option), column);
    return out;
  }

  std::string commands(const CommandSpec& spec) const {
    if (spec.commands.empty()) return "";
    std::size_t longest = 0;
    for (const CommandSpec& command : spec.commands)
      longest = std::max(longest, command.name.size());
    std::string out;
    std::string group;
    for (const CommandSpec& command : spec.commands) {
      if (command.group != group)
        out += heading(command.group == "Subcommands" ? "Commands" : command.group);
      group = command.group;
      out += entry(command.name, command.summary, kIndent + longest + 3);
    }
    if (is_list(spec)) return out;
    const std::string& one = spec.commands.front().name;
    return out + "\n" + paint_.dim(spec.path + " " + one + " --help shows its options.") + "\n";
  }

  Paint paint_;
  std::size_t width_;
};

HelpNotes& own_notes(const CLI::App& app) {
  return std::dynamic_pointer_cast<HelpFormatter>(app.get_formatter())->notes[&app];
}

}  // namespace

void set_help_style(CLI::App& app, const HelpStyle& style) {
  app.formatter(std::make_shared<HelpFormatter>(style));
}

void set_examples(CLI::App& app, const std::vector<Example>& examples) {
  own_notes(app).examples = examples;
}

void set_page(CLI::App& app, const std::string& page) {
  own_notes(app).page = page;
}

void set_synopsis(CLI::App& app, const std::string& synopsis) {
  own_notes(app).synopsis = synopsis;
}

HelpNotes help_notes(const CLI::App& app) {
  const auto formatter = std::dynamic_pointer_cast<HelpFormatter>(app.get_formatter());
  if (!formatter) return {};
  const auto found = formatter->notes.find(&app);
  return found == formatter->notes.end() ? HelpNotes{} : found->second;
}

}  // namespace traceloom
