// MergePlan: everything a merge has decided before it writes its first byte.
#pragma once

#include "clock/alignment.h"
#include "input/input_list.h"
#include "merge/file_survey.h"
#include "merge/filter_plan.h"
#include "merge/id_map.h"
#include "merge/track_plan.h"
#include "survey/ranks.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

struct FilePlan {
  std::string path;
  FileRank rank;
  FileClock clock;
  std::int64_t shift_ns = 0;  // output time = file time + shift_ns
  IdMap flow_ids;
  IdMap bind_ids;
  IdMap async_ids;
  bool keeps_async_ids = false;            // async_ids go by merged_async_key()
  std::vector<std::uint64_t> orphan_ends;  // offsets, ascending
};

// Perfetto numbers flows between slices (bind_id) and flow events in one table, the latter from 0
// up: bind ids begin here, or behind the flow events of all files where those reach further. Those
// of a file that was merged before are kept apart from its flow ids already.
inline constexpr std::uint64_t kFirstBindId = std::uint64_t{1} << 39;

// `surveys` must outlive the plan: the id maps refer to them.
struct MergePlan {
  std::vector<FilePlan> files;
  TrackPlan tracks;
  std::int64_t origin_ns = 0;    // common time of output time 0
  bool sub_microsecond = false;  // some time has digits below the microsecond
  bool keeps_begin_end = false;  // B and E stay what they are
  std::int64_t earliest_ns = 0;  // common time of the earliest event of all, floored to 1 us
  std::optional<FilterPlan> filter = {};  // none: everything is written
};

// What time 0 of the output is.
enum class OriginKind : std::uint8_t {
  first_event,  // the earliest event of all, floored to a whole microsecond
  keep,         // that of the inputs: with absolute clocks, Unix time
  given,        // PlanOptions::origin_ns
};

struct PlanOptions {
  bool keep_begin_end = false;  // leave B and E as they are instead of joining them to X
  ClockOptions clock = {};
  OriginKind origin = OriginKind::first_event;
  std::int64_t origin_ns = 0;
};

// Throws Error for what plan_checks.h refuses, and UsageError when an event lies before the origin
// that was given: both name what to do.
MergePlan make_plan(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                    const PlanOptions& options = {});

}  // namespace traceloom
