#include "record/names/program_handler.h"

#include "record/support/c_calls.h"

#include <fmt/format.h>

#include <stdexcept>

namespace traceloom::record {

ProgramHandler::ProgramHandler(const traceloom_handler* given, std::size_t place) : place_(place) {
  if (given == nullptr)
    throw std::invalid_argument(fmt::format("traceloom_options.handlers[{}] is NULL", place));
  calls_ = complete(given, traceloom_handler TRACELOOM_HANDLER_INIT, "traceloom_handler");
}

void ProgramHandler::fail(const char* name, int result) const {
  throw std::runtime_error(fmt::format("handlers[{}]: {}() returned {}", place_, name, result));
}

}  // namespace traceloom::record
