// The form of --help: summary, usage, examples, arguments, and options in their groups.
#pragma once

#include "common/command_spec.h"

#include <string>
#include <vector>

namespace traceloom {

struct HelpStyle {
  bool colour = false;
  std::size_t width = 80;
};

// The parts of a command's help for which CLI11 has no place.
struct HelpNotes {
  std::vector<Example> examples;
  std::string page;      // the document with the definitions
  std::string synopsis;  // replaces the one that is made of the options
};

// Makes `app`, and every command that is added to it later, show its help in this form. --help
// shows the first line of the description of an option or listed command; the manual page shows all
// of it.
void set_help_style(CLI::App& app, const HelpStyle& style);

// These require an earlier call of set_help_style(). Commands do not inherit the notes of their
// tool.
void set_examples(CLI::App& app, const std::vector<Example>& examples);
void set_page(CLI::App& app, const std::string& page);
void set_synopsis(CLI::App& app, const std::string& synopsis);
// Returns empty notes for an app without our help style.
HelpNotes help_notes(const CLI::App& app);

}  // namespace traceloom
