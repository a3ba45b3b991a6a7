// Steps of several phases: the iterations of an inference engine, some of which process prompts
// (prefill) while others make a token for each request (decode). No mean covers both. So a figure
// describes the steps of one phase, the one with the most time, or of each phase by itself.
//
//   std::vector<RankRoles> roles = find_all_roles(run);
//   for (const PhaseSteps& phase : find_phases(roles)) use(phase.phase, phase.steps.mean());
//   keep_phase(roles, main_phase(roles));
#pragma once

#include "analysis/report.h"
#include "analysis/waits/step_roles.h"

#include <string>
#include <vector>

namespace traceloom {

// All counted steps of one phase, of all ranks.
struct PhaseSteps {
  StepPhase phase = StepPhase::none;
  StepSum steps;
};

// Returns the phases that have steps, prefill first. Steps of a training are one phase, none.
std::vector<PhaseSteps> find_phases(const std::vector<RankRoles>& ranks);

// Returns the phase that takes the most time.
StepPhase main_phase(const std::vector<RankRoles>& ranks);

// Removes the steps of the other phases.
void keep_phase(std::vector<RankRoles>& ranks, StepPhase phase);

// Returns find_all_roles() with only the main phase.
std::vector<RankRoles> find_main_roles(const Run& run);

// If steps are iterations of an inference engine, appends a table "kinds" with a row for each
// phase: the number of steps, their length, and the parts of a mean step.
void append_phases(const Run& run, Report& report);

// If steps have several phases, adds a note with the phase that the report describes.
void note_phase(const Run& run, const std::vector<RankRoles>& kept, Report& report);

// Returns "decode step" or "step".
std::string step_noun(StepPhase phase);

}  // namespace traceloom
