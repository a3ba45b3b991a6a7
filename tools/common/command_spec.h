// The commands and options of a tool as plain data, and its help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
// The commands and options of a tool as plain data. --help, man pages and completions are made of
// it.
//
//   const CommandSpec spec = spec_of(app, "trace-stats gpu");
//   for (const OptionGroup& group : spec.groups) ...

class App;
}  // namespace CLI

namespace traceloom {

// The options that most commands share. They are listed after a command's own options.
inline constexpr char kCommonGroup[] = "Common options";
// Options that few people need. They are listed last.
inline constexpr char kAdvancedGroup[] = "Advanced";

struct OptionSpec {
  std::vector<std::string> names = {};  // "-o", "--output"; just "TRACE" for an argument
  // "FILE"; empty for a flag. "a|b" means that the option takes only these words, and "a|b,..."
  // that it takes a list of them.
  std::string value = {};
  bool takes_many = false;
  bool is_required = false;
  bool may_lack_value = false;
  std::string help = {};     // the first line of its description
  std::string details = {};  // the other lines, for the manual page
  std::string default_value = {};
};

struct OptionGroup {
  std::string title;
  std::vector<OptionSpec> options;
};

struct Example {
  std::string what;     // "every rank into one trace, compressed"
  std::string command;  // "trace-merge rank*.json.gz -o merged.json.gz"
};

struct CommandSpec {
  std::string path;      // "trace-stats gpu", as it is typed
  std::string name;      // "gpu"
  std::string group;     // the heading under which its tool lists it
  std::string summary;   // the first line of its description
  std::string details;   // the other lines
  std::string page;      // the document with the definitions; "" for none
  std::string synopsis;  // "[options] TRACE..."
  std::vector<OptionSpec> arguments;
  std::vector<OptionGroup> groups;
  std::vector<Example> examples;
  std::vector<CommandSpec> commands;
};

// Returns the spec of an app without its hidden options and commands.
CommandSpec spec_of(const CLI::App& app, const std::string& path);

// Returns "min", "keep" for the value "min|keep|NS", where the word in capitals stands for any
// other value. Returns nothing if any text may be a value.
std::vector<std::string> alternatives_of(const OptionSpec& option);
// Returns whether the option takes several of its alternatives, with commas between them.
bool is_list(const OptionSpec& option);

// The meaning of ExitCode, for the commands that read traces. README.md and docs/ say the same in
// the same words, which the test docs.exit_codes compares.
inline constexpr std::string_view kExitStatus[][2] = {
    {"0", "done"},
    {"1", "the answer is no: a failed gate (--fail-on, --gate) or a loss (--strict, check)"},
    {"2",
     "trouble: wrong usage, an unreadable input, a full disk, or what was asked cannot be "
     "measured"},
    {"3", "inconclusive: for compare --gate, these captures cannot decide"}};
// A tool reads traces if one of its commands does.
bool reads_traces(const CommandSpec& command);

// Returns whether this is an argument (TRACE), which has no dash, and not an option.
bool is_argument(const OptionSpec& option);
// Returns " FILE", " [FILE]" if it may be left out, or "..." for an argument that may be repeated.
std::string value_of(const OptionSpec& option);
// Returns "-o, --output FILE" or "TRACE...".
std::string usage_of(const OptionSpec& option);

// The form of --help: summary, usage, examples, arguments, and options in their groups.

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
