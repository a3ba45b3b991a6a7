// Which process of the run a session is of, as its options or the launcher say it.
//
//   Options options;                              // rank -1: as RANK, SLURM_PROCID and so on say
//   const Options settled = settled_options(options);
//   settled.rank;                                 // 3
//   settled.folder;                               // "run7/traces"
#pragma once

#include "record/names/name_template.h"
#include "record/session.h"

#pragma GCC visibility push(default)  // the merge per node asks for them, too

namespace traceloom::record {

// Rank, world size and node as known_place() has them, where nobody says them 0; and the folder
// without placeholders. Throws std::invalid_argument as find_place() does.
Options settled_options(Options options);

// For names: sizes that are not known are those of a run that ends with this rank.
RunIdentity identity_of(const Options& options);

}  // namespace traceloom::record

#pragma GCC visibility pop
