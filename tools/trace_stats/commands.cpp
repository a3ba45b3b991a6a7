#include "trace_stats/commands.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace traceloom {
namespace {

// The commands as a list that needs no memory of its own, since they are registered before main().
// The compiler sets it before any constructor runs.
const RegisteredCommand* registered = nullptr;

bool is_listed_before(const RegisteredCommand* a, const RegisteredCommand* b) {
  return std::tie(a->group, a->place) < std::tie(b->group, b->place);
}

bool shares_place(const RegisteredCommand* a, const RegisteredCommand* b) {
  return std::tie(a->group, a->place) == std::tie(b->group, b->place);
}

}  // namespace

RegisteredCommand::RegisteredCommand(CommandGroup its_group, int its_place,
                                     AddCommand its_add) noexcept
    : group(its_group), place(its_place), add(its_add), next_(registered) {
  registered = this;
}

std::vector<const RegisteredCommand*> RegisteredCommand::all() {
  std::vector<const RegisteredCommand*> commands;
  for (const RegisteredCommand* command = registered; command != nullptr; command = command->next_)
    commands.push_back(command);
  std::sort(commands.begin(), commands.end(), is_listed_before);
  // Otherwise the order of --help would be that in which the linker was given the files.
  if (std::adjacent_find(commands.begin(), commands.end(), shares_place) != commands.end())
    throw std::logic_error("two commands of trace-stats have the same place in a group");
  return commands;
}

void add_commands(CLI::App& app, Work& work) {
  for (const RegisteredCommand* const command : RegisteredCommand::all()) {
    command->add(app, work);
    app.get_subcommands([](const CLI::App*) { return true; })
        .back()
        ->group(kCommandGroupTitles[static_cast<std::size_t>(command->group)]);
  }
  app.require_subcommand(1);
}

}  // namespace traceloom
