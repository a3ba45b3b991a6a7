// RankSource: what said which rank a file is.
#pragma once

#include "base/by_enum.h"

#include <cstdint>
#include <string_view>

namespace traceloom {

// The sources of a rank in order of priority: the first one that a file has is used.
enum class RankSource : std::uint8_t {
  argument,          // RANK=path
  metadata_event,    // metadata event (M) global_rank
  distributed_info,  // distributedInfo.rank
  top_level_key,     // "global_rank" next to traceEvents
  file_name,         // "ep0-ba8-rank3.json"
  position,          // place among the inputs: the lowest number that no other input has
  merged,            // a merged file: each pid is a rank
  rows,              // a coarse time line: each row belongs to a rank
};
constexpr std::string_view to_string(RankSource source) {
  return name_in({"RANK= argument", "global_rank event", "distributedInfo.rank", "global_rank key",
                  "file name", "position", "merged file", "rows"},
                 source);
}
static_assert(to_string(RankSource::rows) == "rows");

}  // namespace traceloom
