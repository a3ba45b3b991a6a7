#include "common/help_formatter.h"

#include "common/terminal.h"
#include "table/text_width.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace traceloom {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kTextColumn = 28;  // where descriptions start
constexpr char kHardSpace = '\x1f';      // where wrap() must not break: in "[default: all cores]"

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const bool fits = text_width(lines.back()) + 1 + text_width(word) <= width;
    if (!fits && !lines.back().empty()) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    if (end < text.size() && text[end] == '\n') lines.emplace_back();
    start = end + 1;
  }
  for (std::string& line : lines) std::replace(line.begin(), line.end(), kHardSpace, ' ');
  return lines;
}

bool takes_many(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

std::string value_name(const CLI::Option& option) {
  if (option.get_type_size() == 0 || option.get_type_name().empty()) return "";
  return " " + option.get_type_name() + (takes_many(option) ? "..." : "");
}

// "TRACE..." for an argument, "-o, --output FILE" or "    --strict" for an option.
std::string left_side(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true) + (takes_many(option) ? "..." : "");
  std::string names;
  for (const std::string& name : option.get_snames()) names += "-" + name + ", ";
  if (names.empty()) names = "    ";
  for (const std::string& name : option.get_lnames()) names += "--" + name + ", ";
  names.erase(names.find_last_not_of(", ") + 1);
  return names + value_name(option);
}

std::string right_side(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_default_str().empty()) return text;
  std::string note = "[default: " + option.get_default_str() + "]";
  std::replace(note.begin(), note.end(), ' ', kHardSpace);
  return text + " " + note;
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(const HelpStyle& style) : paint_(style.colour), width_(style.width) {}

  std::string make_help(const CLI::App* app, std::string path, CLI::AppFormatMode) const override {
    std::string out;
    for (const std::string& line : wrap(app->get_description(), width_)) out += line + "\n";
    out += "\n" + usage(*app, path);
    out += arguments(*app);
    out += commands(*app, path);
    out += option_groups(*app);
    out += examples(*app);
    return out;
  }

 private:
  using Commands = std::vector<const CLI::App*>;
  using Options = std::vector<const CLI::Option*>;

  std::string heading(std::string_view text) const {
    return "\n" + paint_.bold(fmt::format("{}:", text)) + "\n";
  }

  // One entry of a list: the name at the left, its description wrapped at the right.
  std::string entry(const std::string& name, std::string_view text) const {
    std::string out = std::string(kIndent, ' ') + paint_.option(name);
    std::size_t column = kIndent + text_width(name);
    for (const std::string& line : wrap(text, width_ - kTextColumn)) {
      if (column + 2 > kTextColumn) {
        out += '\n';
        column = 0;
      }
      out += std::string(kTextColumn - column, ' ') + line;
      column = kTextColumn;
    }
    return out + "\n";
  }

  std::string usage(const CLI::App& app, const std::string& path) const {
    std::string out = paint_.bold("Usage:") + " " + path;
    if (!named_commands(app).empty())
      return out + (app.get_require_subcommand_min() > 0 ? " COMMAND" : " [COMMAND]") +
             " [options]\n";
    out += " [options]";
    for (const CLI::Option* argument : app.get_options(&is_argument))
      out += " " +
             (argument->get_required() ? left_side(*argument) : "[" + left_side(*argument) + "]");
    return out + "\n";
  }

  std::string arguments(const CLI::App& app) const {
    return list("Arguments", app.get_options(&is_argument));
  }

  std::string list(const std::string& title, const Options& options) const {
    if (options.empty()) return "";
    std::string out = heading(title);
    for (const CLI::Option* option : options) out += entry(left_side(*option), right_side(*option));
    return out;
  }

  std::string commands(const CLI::App& app, const std::string& path) const {
    const Commands all = named_commands(app);
    if (all.empty()) return "";
    std::string out;
    std::vector<std::string> groups;
    for (const CLI::App* command : all)
      if (std::find(groups.begin(), groups.end(), command->get_group()) == groups.end())
        groups.push_back(command->get_group());
    for (const std::string& group : groups) {
      out += heading(group == "Subcommands" ? "Commands" : group);
      for (const CLI::App* command : all)
        if (command->get_group() == group)
          out += entry(command->get_name(), command->get_description());
    }
    return out + "\n" + paint_.dim(path + " COMMAND --help tells the options of a command.") + "\n";
  }

  std::string option_groups(const CLI::App& app) const {
    std::vector<std::string> groups = app.get_groups();
    std::stable_partition(groups.begin(), groups.end(),
                          [](const std::string& group) { return group != kGeneralGroup; });
    std::string out;
    for (const std::string& group : groups) {
      if (group.empty()) continue;  // hidden options
      out += list(group, app.get_options([&](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional();
      }));
    }
    return out;
  }

  // Commands inherit the footer of their parent; examples of another command help nobody.
  std::string examples(const CLI::App& app) const {
    const std::string footer = app.get_footer();
    if (footer.empty()) return "";
    if (app.get_parent() != nullptr && app.get_parent()->get_footer() == footer) return "";
    std::string out = heading("Examples");
    std::size_t start = 0;
    while (start < footer.size()) {
      const std::size_t end = std::min(footer.find('\n', start), footer.size());
      const std::string line = footer.substr(start, end - start);
      out += std::string(kIndent, ' ') + (line.starts_with('#') ? paint_.dim(line) : line) + "\n";
      start = end + 1;
    }
    return out;
  }

  static bool is_argument(const CLI::Option* option) {
    return option->get_positional() && !option->get_group().empty();
  }

  static Commands named_commands(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* command) {
      return !command->get_name().empty() && !command->get_group().empty();
    });
  }

  Paint paint_;
  std::size_t width_;
};

}  // namespace

void set_help_style(CLI::App& app, const HelpStyle& style) {
  app.formatter(std::make_shared<HelpFormatter>(style));
}

void set_examples(CLI::App& app, const std::vector<Example>& examples) {
  std::string footer;
  for (const Example& example : examples)
    footer += "# " + example.what + "\n" + example.command + "\n";
  app.footer(footer);
}

}  // namespace traceloom
