#include "stats/time_windows.h"

#include "event/event_timing.h"
#include "survey/clock_plan.h"
#include "survey/file_evidence.h"
#include "survey/ranks.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace traceloom {
namespace {

__extension__ typedef __int128 Int128;

// What is known of the clock of a file, or of a chunk of it.
struct ClockEvidence {
  FileEvidence evidence;
  std::optional<std::int64_t> first_ns;
  bool failed = false;

  void include(std::int64_t ns) { first_ns = first_ns ? std::min(*first_ns, ns) : ns; }
};

struct ClockChunk : ChunkResult {
  ClockEvidence found;
};

class ClockReader : public FileVisitor {
 public:
  ClockReader(std::size_t files, bool keep_going) : files_(files), keep_going_(keep_going) {}

  const std::vector<ClockEvidence>& files() const { return files_; }

  std::unique_ptr<ChunkResult> make_result() override { return std::make_unique<ClockChunk>(); }

  void visit(ChunkResult& result, std::size_t, const Event& event) override {
    ClockEvidence& found = static_cast<ClockChunk&>(result).found;
    if (event.phase == 'M') return found.evidence.add(event);
    if (event.phase == 'E') return;
    const EventTiming timing = time_event(event, result.problems);
    if (timing.usable) found.include(timing.start_ns);
  }

  void take(ChunkResult& result, std::size_t file) override {
    const ClockEvidence& found = static_cast<ClockChunk&>(result).found;
    files_[file].evidence.append(found.evidence);
    if (found.first_ns) files_[file].include(*found.first_ns);
  }

  void end_file(std::size_t file, const FileEnd& end) override {
    files_[file].evidence.add_top_level(end.top_level);
  }

  void fail_file(std::size_t file, const Error& error) override {
    if (!keep_going_) throw error;
    files_[file].failed = true;
  }

 private:
  std::vector<ClockEvidence> files_;
  bool keep_going_;
};

std::int64_t saturated(Int128 ns) {
  constexpr Int128 kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr Int128 kMost = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::clamp(ns, kLeast, kMost));
}

}  // namespace

std::vector<TimeWindow> find_windows(const std::vector<Input>& inputs,
                                     const TimeSelection& selection, bool keep_going,
                                     const ScanOptions& options) {
  std::vector<std::string> paths;
  paths.reserve(inputs.size());
  for (const Input& input : inputs) paths.push_back(input.path);
  ClockReader reader(inputs.size(), keep_going);
  scan_files(paths, reader, options);

  std::vector<std::size_t> readable;
  std::vector<Input> readable_inputs;
  std::vector<FileEvidence> evidence;
  std::vector<std::optional<std::int64_t>> first_ns;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (reader.files()[i].failed) continue;
    readable.push_back(i);
    readable_inputs.push_back(inputs[i]);
    evidence.push_back(reader.files()[i].evidence);
    first_ns.push_back(reader.files()[i].first_ns);
  }
  const std::vector<FileRank> ranks = assign_ranks(readable_inputs, evidence);
  const ClockPlan plan = plan_clocks(readable_inputs, evidence, ranks, first_ns);

  std::vector<TimeWindow> windows(inputs.size());
  for (std::size_t i = 0; i < readable.size(); ++i) {
    const Int128 zero = Int128{plan.origin_ns} - plan.clocks[i].offset_ns;
    TimeWindow& window = windows[readable[i]];
    if (selection.from_ns) window.from_ns = saturated(zero + *selection.from_ns);
    if (selection.to_ns) window.to_ns = saturated(zero + *selection.to_ns);
  }
  return windows;
}

}  // namespace traceloom
