#include "commands/command_runs.h"

#include "common/command_line.h"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <utility>

namespace traceloom {
namespace {

// Any trace will do, since only its name is looked at.
constexpr char kTrace[] = TRACELOOM_SOURCE_DIR "/testdata/small/multi4_rank0.json";

std::vector<std::string> command_names() {
  CLI::App app;
  set_up(app, kToolName);
  Work work;
  add_commands(app, work);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> variants_of(const std::string& command) {
  std::ifstream file(TRACELOOM_SOURCE_DIR "/tests/commands/variants");
  REQUIRE(file.is_open());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(command + " ")) lines.push_back(line);
  return lines;
}

bool takes_traces(const std::string& command) {
  CLI::App app;
  set_up(app, kToolName);
  Work work;
  add_commands(app, work);
  return app.get_subcommand(command)->get_option_no_throw("TRACE") != nullptr;
}

}  // namespace

std::shared_ptr<const Analysis> analysis_of(const std::string& words) {
  CLI::App app;
  set_up(app, kToolName);
  Work work;
  add_commands(app, work);
  std::vector<std::string> typed{kToolName};
  std::istringstream stream(words);
  for (std::string word; stream >> word;) typed.push_back(word);
  typed.emplace_back(kTrace);
  std::vector<const char*> arguments;
  arguments.reserve(typed.size());
  for (const std::string& word : typed) arguments.push_back(word.c_str());
  const bool parsed = parse(app, static_cast<int>(arguments.size()), arguments.data());
  REQUIRE(parsed);
  return work.analysis;
}

std::vector<CommandRun> analysis_runs() {
  std::vector<CommandRun> runs;
  for (const std::string& command : command_names()) {
    if (!takes_traces(command)) continue;
    std::vector<std::string> lines = variants_of(command);
    lines.insert(lines.begin(), command);
    for (const std::string& line : lines)
      if (auto analysis = analysis_of(line)) runs.push_back({line, std::move(analysis)});
  }
  return runs;
}

}  // namespace traceloom
