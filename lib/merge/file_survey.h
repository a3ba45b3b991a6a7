// FileSurvey: everything about a file that has to be known before its first event can be written:
// rank and clock evidence, the earliest time, tracks and their names, ids, stray end events.
//
//   SurveyVisitor visitor(paths.size(), on_failure);  scan_files(paths, visitor, {});
//   std::vector<FileSurvey> surveys = visitor.take_surveys();
//
// Memory: the tracks, odd ids and stray ends.
#pragma once

#include "base/error.h"
#include "base/problems.h"
#include "merge/id_map.h"
#include "scan/scan_files.h"
#include "survey/file_evidence.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// A (pid, tid) as the events write it.
struct TrackFacts {
  std::string pid;  // JSON text, empty when absent
  std::string tid;
  std::uint64_t events = 0;  // without metadata and end events
  bool is_gpu = false;       // some event is of a category that only GPU rows have
  std::string name;          // thread_name, decoded
  std::optional<std::int64_t> sort_index;
};

struct ProcessFacts {
  std::string name;    // process_name, decoded
  std::string labels;  // process_labels, decoded
};

// A metadata event that the merge does not write anew, as it stands in the file.
struct KeptMetadata {
  std::string text;
  std::uint64_t offset = 0;
};

struct FileSurvey {
  FileEvidence evidence;
  std::vector<TrackFacts> tracks;                 // in order of first appearance
  std::map<std::string, ProcessFacts> processes;  // by canonical pid
  std::vector<KeptMetadata> metadata;             // each text once
  IdSet flow_ids;                                 // s t f
  IdSet bind_ids;                                 // bind_id of flows between slices
  IdSet async_ids;                                // b n e S T p F
  IdSet merged_async_ids;                         // the same by merged_async_key()
  bool has_other_async_ids = false;               // some id is not as a merge writes it
  std::vector<std::uint64_t> orphan_ends;         // offsets of E events without a B, ascending;
                                                  // only when asked for
  std::uint64_t events = 0;                       // usable ones, without metadata
  std::uint64_t ends = 0;                         // E among them
  std::optional<std::int64_t> first_ns;           // earliest start of what will be written
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();  // latest start
  bool sub_microsecond = false;  // some time is no whole microsecond
  std::vector<TopLevelEntry> top_level;
  std::uint64_t text_bytes = 0;
  ProblemCounts problems;
};

// Told of a file that is no trace or cannot be read: throw to stop, return to leave it out.
using FailureHandler = std::function<void(std::size_t file, const Error& error)>;

// The key of an async event's id within its file: id2.local belongs to a process, id and id2.global
// do not. Empty when the event has no id.
std::string_view async_id_key(const Event& event, std::string& scratch);
// The number in an id that a merge has written, {"local": "0x1f"}, as decimal text; empty for any
// other id. Such numbers are unique in their file, and kept when the file is merged again.
std::string_view merged_async_key(const Event& event, std::string& scratch);

inline bool is_flow_phase(char phase) {
  return phase == 's' || phase == 't' || phase == 'f';
}
inline bool is_async_phase(char phase) {
  return phase == 'b' || phase == 'n' || phase == 'e' || phase == 'S' || phase == 'T' ||
         phase == 'p' || phase == 'F';
}

}  // namespace traceloom
