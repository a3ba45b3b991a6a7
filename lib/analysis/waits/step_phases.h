// Steps of several phases: the iterations of an inference engine, some of which take prompts in
// (prefill) while others make a token for each request (decode). There is no mean of both: what is
// told of steps is told of one phase, that which takes most of the time, or of each by itself.
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

// All steps of one phase that count, of all ranks.
struct PhaseSteps {
  StepPhase phase = StepPhase::none;
  StepSum steps;
};

// Returns the phases that have steps, prefill first. Steps of a training are one phase, none.
std::vector<PhaseSteps> find_phases(const std::vector<RankRoles>& ranks);

// Returns the phase that takes the most time.
StepPhase main_phase(const std::vector<RankRoles>& ranks);

// Forgets the steps of the other ones.
void keep_phase(std::vector<RankRoles>& ranks, StepPhase phase);

// find_all_roles(), of the main phase alone.
std::vector<RankRoles> find_main_roles(const Run& run);

// Appends, where steps are iterations of an inference engine, a table "kinds" with a row a phase:
// how many steps, how long they are, and where a mean one goes.
void append_phases(const Run& run, Report& report);

// Notes, where steps are of several phases, of which the report is.
void note_phase(const Run& run, const std::vector<RankRoles>& kept, Report& report);

// "decode step", "step".
std::string step_noun(StepPhase phase);

}  // namespace traceloom
