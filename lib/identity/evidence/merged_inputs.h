// MergedInput: what a merge of ours has noted of an input of its, so that it can be known again
// beside the merge.
//
//   for (const MergedInput& input : read_merged_inputs(traceloom)) ...  // otherData.traceloom
//   write_tally(json, input.tally)                                      // in frame.cpp
#pragma once

#include "identity/evidence/composer_stamps.h"
#include "identity/evidence/event_tally.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

struct MergedInput {
  std::int64_t rank = 0;  // whose events of it were taken
  std::string path;
  bool says_rank = true;   // the file itself: its place among the inputs did not, nor RANK=path
  bool has_clock = false;  // it was placed by something
  bool by_collectives = false;  // that was its collectives
  std::int64_t offset_ns = 0;   // from its clock to the common one of the merge
  // That the merge found in it, with those that a filter dropped; an E is none. Unknown of an input
  // with several ranks.
  std::optional<std::uint64_t> events = {};
  // Of merges since version 0.2: of the whole file.
  std::optional<EventTally> tally = {};
  bool is_part = false;  // a filter may have dropped events of it
  // Composer's, of that rank, by which a merge of Composer's is known to hold it or to be it.
  std::vector<Stamp> stamps = {};
  bool has_several_ranks = false;  // Composer's merger had written it
};

// Of a merge of merges the inputs of those, where they have noted them. None where it does not say
// them.
std::vector<MergedInput> read_merged_inputs(std::string_view traceloom);

// Those that an input of a merge has noted, as the merge notes them for one of its ranks: by its
// own common clock. `offset_ns` and `base_ns` are those of the input.
std::vector<MergedInput> inputs_of_rank(const std::vector<MergedInput>& inputs, std::int64_t rank,
                                        std::int64_t offset_ns, std::int64_t base_ns);

}  // namespace traceloom
