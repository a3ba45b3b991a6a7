// --help as this project shows it: purpose, usage, arguments, options in their groups, examples.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace traceloom {

// Options of this group (help, version, verbose) are shown last.
inline constexpr char kGeneralGroup[] = "General";

struct HelpStyle {
  bool colour = false;
  std::size_t width = 80;
};

// Makes `app`, and every command that is added to it later, show its help in this form.
void set_help_style(CLI::App& app, const HelpStyle& style);

struct Example {
  std::string what;     // "every rank into one trace, compressed"
  std::string command;  // "trace-merge rank*.json.gz -o merged.json.gz"
};

// Shown at the end of the help of `app`, and not in that of its commands.
void set_examples(CLI::App& app, const std::vector<Example>& examples);

}  // namespace traceloom
