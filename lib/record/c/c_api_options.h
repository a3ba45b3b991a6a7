// The structs of traceloom.h and what they mean in recorder.h.
#pragma once

#include "record/c/traceloom.h"
#include "record/names/name_template.h"
#include "record/recorder.h"

#include <cstdint>

namespace traceloom::record {

#pragma GCC visibility push(default)  // the merge per node asks for them, too

// Null pointers mean defaults. Throw std::invalid_argument for a struct without a size, or with
// what no program can mean.
Position position_of(const traceloom_position* given);
traceloom_position position_for_c(const Position& from);
Actions actions_of(std::uint32_t bits);
Options options_of(const traceloom_options* given);
// Of a struct that is whole.
RunIdentity identity_of(const traceloom_options& from);
using TellSavedTrace = void(void* arg, const traceloom_saved_trace* trace);
void tell_saved_trace(const SavedTrace& saved, TellSavedTrace* tell, void* arg);

#pragma GCC visibility pop

}  // namespace traceloom::record
