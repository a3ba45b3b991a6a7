// Translates the structs of traceloom.h into those of recorder.h.
#pragma once

#include "record/c/traceloom.h"
#include "record/names/name_template.h"
#include "record/recorder.h"

#include <cstdint>

namespace traceloom::record {

#pragma GCC visibility push(default)  // the merge per node uses them, too

// Null pointers mean defaults. The functions throw std::invalid_argument for a struct without a
// size, or with values that no program can mean.
Position position_of(const traceloom_position* given);
traceloom_position position_for_c(const Position& from);
Actions actions_of(std::uint32_t bits);
Options options_of(const traceloom_options* given);
// `from` must be a complete struct.
RunIdentity identity_of(const traceloom_options& from);
using TellSavedTrace = void(void* arg, const traceloom_saved_trace* trace);
void tell_saved_trace(const SavedTrace& saved, TellSavedTrace* tell, void* arg);

#pragma GCC visibility pop

}  // namespace traceloom::record
