// handler_of(): makes a TraceHandler of the functions of a program in C.
#pragma once

#include "record/c/traceloom.h"
#include "record/trace_handler.h"

#include <cstddef>
#include <memory>

namespace traceloom::record {

// Returns the handler for traceloom_options::handlers[place]. Throws std::invalid_argument for NULL
// and for a struct without a size.
std::shared_ptr<TraceHandler> handler_of(const traceloom_handler* given, std::size_t place);

}  // namespace traceloom::record
