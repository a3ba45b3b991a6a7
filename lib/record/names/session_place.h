// settled_options(), identity_of(): say which process of the run a session belongs to, from its
// options or the launcher.
//
//   Options options;                              // rank -1: as RANK, SLURM_PROCID and so on say
//   const Options settled = settled_options(options);
//   settled.rank;                                 // 3
//   settled.folder;                               // "run7/traces"
#pragma once

#include "record/names/name_template.h"
#include "record/session.h"

#pragma GCC visibility push(default)  // the merge per node uses them, too

namespace traceloom::record {

// Returns the options with rank, world size and node as known_place() has them, or 0 if nobody says
// them, and with a folder without placeholders. Throws std::invalid_argument as find_place() does.
Options settled_options(Options options);

// Returns the identity for names: unknown sizes are those of a run that ends with this rank.
RunIdentity identity_of(const Options& options);

}  // namespace traceloom::record

#pragma GCC visibility pop
