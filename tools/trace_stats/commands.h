// The commands of trace-stats, one file each: command_<name>.cpp. The build finds the file, and the
// command registers itself:
//
//   const RegisteredCommand kGpuCommand(CommandGroup::devices, 10, add_gpu);
//
// --help, manual pages, completions, and the tests that take every command follow from that.
#pragma once

#include "common/run_tool.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace CLI {
class App;
}

namespace traceloom {

struct Analysis;  // analysis_command.h

inline constexpr char kToolName[] = "trace-stats";

using Task = std::function<ExitCode()>;

// What the command line asks for; the command that it names sets this.
struct Work {
  Task run = {};
  std::shared_ptr<const Analysis> analysis = {};  // nullptr if the command is none
};

// The headings of --help, in their order there.
enum class CommandGroup : std::uint8_t { limits, time, devices, files };
inline constexpr const char* kCommandGroupTitles[] = {"What limits the run", "Where time goes",
                                                      "Devices, memory and host", "Trace files"};

// A command adds itself, with its options, to the app.
using AddCommand = void (*)(CLI::App& app, Work& work);

// A command that is part of the program. It exists until the program ends.
class RegisteredCommand {
 public:
  // Commands of a group are listed by `place`. Numbers in steps of ten leave room for others.
  RegisteredCommand(CommandGroup group, int place, AddCommand add) noexcept;
  RegisteredCommand(const RegisteredCommand&) = delete;
  RegisteredCommand& operator=(const RegisteredCommand&) = delete;

  static std::vector<const RegisteredCommand*> all();

  CommandGroup group;
  int place;
  AddCommand add;

 private:
  const RegisteredCommand* next_;
};

// Adds all registered commands to the app, which requires one of them.
void add_commands(CLI::App& app, Work& work);

}  // namespace traceloom
