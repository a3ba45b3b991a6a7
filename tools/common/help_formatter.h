// --help as this project shows it: purpose, usage, examples, arguments, options in their groups.
#pragma once

#include "common/command_spec.h"

#include <string>
#include <vector>

namespace traceloom {

struct HelpStyle {
  bool colour = false;
  std::size_t width = 80;
};

// What the help of a command shows that CLI11 has no place for.
struct HelpNotes {
  std::vector<Example> examples;
  std::string page;      // the document with the definitions
  std::string synopsis;  // in place of that which follows from the options
};

// Makes `app`, and every command that is added to it later, show its help in this form. A list of
// commands shows the first line of a command's description. Of an option --help shows the first
// line of the description, and the manual page all of it.
void set_help_style(CLI::App& app, const HelpStyle& style);

// These need set_help_style() before. Commands do not inherit the notes of their tool.
void set_examples(CLI::App& app, const std::vector<Example>& examples);
void set_page(CLI::App& app, const std::string& page);
void set_synopsis(CLI::App& app, const std::string& synopsis);
// Empty for an app without our help style.
HelpNotes help_notes(const CLI::App& app);

}  // namespace traceloom
