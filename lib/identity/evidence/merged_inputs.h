// MergedInput: the note of a merge of ours about one of its inputs, so that the input can be
// recognised next to the merge.
//
//   for (const MergedInput& input : read_merged_inputs(traceloom)) ...  // otherData.traceloom
//   write_tally(json, input.tally)                                      // in frame.cpp
#pragma once

#include "identity/evidence/composer_stamps.h"
#include "identity/evidence/event_tally.h"
#include "json/json_document.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct MergedInput {
  std::int64_t rank = 0;  // rank whose events were taken
  std::string path;
  bool says_rank = true;   // the file names its rank; it does not come from its place among the
                           // inputs or from RANK=path
  bool has_clock = false;  // some evidence placed its clock
  bool by_collectives = false;  // that evidence was its collectives
  std::int64_t offset_ns = 0;   // nanoseconds from its clock to the merge's common one
  // Number of events that the merge found in it, including those that a filter dropped, but without
  // E. It is not known for an input with several ranks.
  std::optional<std::uint64_t> events = {};
  // Tally of the whole file; noted by merges since version 0.2.
  std::optional<EventTally> tally = {};
  bool is_part = false;  // a filter may have dropped some of its events
  // Composer's stamps of that rank, by which a merge of Composer's is known to hold the input or to
  // be it.
  std::vector<Stamp> stamps = {};
  bool has_several_ranks = false;  // Composer's merger wrote it

  template <typename Wire>
  void wire(Wire& wire) {
    wire(rank, path, says_rank, has_clock, by_collectives, offset_ns, events, tally, is_part,
         stamps, has_several_ranks);
  }
};

// Reads the notes. For a merge of merges these are the inputs of the inner merges, if those are
// noted. The list is empty if there are no notes.
std::vector<MergedInput> read_merged_inputs(JsonValue traceloom);

// Returns the notes in an input of a merge as the merge notes them for one of its ranks, on its own
// common clock. `offset_ns` and `base_ns` belong to the input.
std::vector<MergedInput> inputs_of_rank(const std::vector<MergedInput>& inputs, std::int64_t rank,
                                        std::int64_t offset_ns, std::int64_t base_ns);

}  // namespace traceloom
