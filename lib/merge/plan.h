// MergePlan: everything a merge has decided before it writes its first byte.
#pragma once

#include "clock/alignment.h"
#include "input/input_list.h"
#include "merge/file_survey.h"
#include "merge/id_map.h"
#include "merge/stack_frames.h"
#include "merge/track_plan.h"
#include "survey/ranks.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace traceloom {

// Numbers for ids that are written as hexadecimal text.
struct HexIdMap {
  IdMap map;
  bool keeps = false;  // the file was merged before: ids go by the numbers that they have
  bool operator==(const HexIdMap&) const = default;
};

struct FilePlan {
  std::string path;
  FileRank rank;
  FileClock clock;
  std::int64_t shift_ns = 0;  // output time = file time + shift_ns
  IdMap flow_ids;
  IdMap bind_ids;
  HexIdMap async_ids;
  HexIdMap object_ids;
  std::uint64_t object_ids_end = 0;  // above those of all files
  FrameIds frames = {};
  // Of counters that another process of the rank has as well, by counter_key().
  std::map<std::string, std::string, std::less<>> counter_suffixes = {};
  bool keeps_subtraces = false;  // embedded traces, which need no other times than they have
  std::vector<std::uint64_t> orphan_ends = {};  // offsets, ascending
  ProblemCounts problems = {};                  // top-level values that cannot be kept
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
  bool has_objects = false;      // that args may refer to
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

// The ranks that a file has events of, ascending.
std::vector<std::int64_t> ranks_of(const FileRank& rank);

// Throws Error for what plan_checks.h refuses, and UsageError when an event lies before the origin
// that was given: both name what to do.
MergePlan make_plan(const std::vector<Input>& inputs, const std::vector<FileSurvey>& surveys,
                    const PlanOptions& options = {});

}  // namespace traceloom
