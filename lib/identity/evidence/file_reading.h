// FileReading: the facts that every visitor gathers about a file, besides what it reads it for.
//
//   void visit(ChunkResult& result, std::size_t, const Event& event) override {
//     part_of(result).add(event, time_event(event, result.problems));
//   }
//   void take(ChunkResult& result, std::size_t file) override {
//     readings_[file].append(part_of(result));
//   }
//   void end_file(std::size_t file, const FileEnd& end) override { readings_[file].end(end); }
#pragma once

#include "base/arithmetic.h"
#include "base/problems.h"
#include "identity/evidence/event_tally.h"
#include "identity/evidence/file_evidence.h"
#include "scan/scan_files.h"

#include <cstdint>
#include <string>
#include <tuple>

namespace traceloom {

// When the events of a file end, in its own time: those with times since 1970, and the others.
struct EndTimes {
  CommonTimes relative = {};
  CommonTimes unix_time = {};

  void add(std::int64_t ns) { (is_unix_time(ns) ? unix_time : relative).add(ns); }
  void add(const EndTimes& later) {
    relative.add(later.relative);
    unix_time.add(later.unix_time);
  }
};

// One chunk says this of its file.
struct ReadingPart {
  FileEvidence evidence = {};
  ThreadTallier threads = {};
  StartTimes starts = {};
  EndTimes ends = {};

  // Adds any event of the chunk.
  void add(const Event& event, const EventTiming& timing) {
    add_evidence(event, timing);
    if (timing.usable) add_times(event, timing);
  }
  // The two halves of add(), for a visitor that leaves out some usable events.
  void add_evidence(const Event& event, const EventTiming& timing) {
    if (event.phase == 'M') return evidence.add(event);
    if (SyncMarks::is_mark(event)) evidence.add(event);
    if (!timing.timed || event.phase == 'E') return;
    evidence.add_begin(event, timing);
    threads.add(event, timing);
  }
  // A paired E is never before its B, and a stray one has no place: neither can be the first time.
  void add_times(const Event& event, const EventTiming& timing) {
    if (event.phase == 'M') return;
    if (event.phase == 'E')
      starts.add_end(timing.start_ns);
    else
      starts.add(timing.start_ns, event.offset);
    if (timing.start_ns == 0 && (timing.duration_ns > 0 || event.phase == 'B' ||
                                 event.phase == 'b' || event.phase == 'S' || event.phase == 'C'))
      starts.trust_zero();
    if (event.phase != 'B') ends.add(saturating_add(timing.start_ns, timing.duration_ns));
  }
  void clear();
};

struct FileReading {
  FileEvidence evidence = {};
  StartTimes starts = {};  // when its usable events start
  EndTimes ends = {};      // when they end; a B by itself does not
  ProblemCounts problems = {};
  std::uint64_t listed = 0;  // all events of the list
  std::uint64_t text_bytes = 0;
  std::string error = {};  // why the file could not be read; empty after a success
  bool is_repeat = false;  // others hold its events; `problems` names them

  // For other processes: see team/wire.h.
  auto wired() {
    return std::tie(evidence, starts, ends, problems, listed, text_bytes, error, is_repeat);
  }

  // Adds the chunks of the file, in their order.
  void append(const ReadingPart& part);
  // Takes the facts that are known at the end of the file.
  void end(const FileEnd& file_end);
  // False for a file from which no events are used.
  bool counts() const { return error.empty() && !is_repeat; }
};

// Throws `error` for an input that cannot be read and must not be left out. If there are other
// inputs, the message names the option that leaves it out.
[[noreturn]] void stop_at(const Error& error, std::size_t files);

}  // namespace traceloom
