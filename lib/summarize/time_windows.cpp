#include "summarize/time_windows.h"

#include "event/event_timing.h"
#include "identity/clocks/clock_plan.h"
#include "identity/evidence/file_evidence.h"
#include "identity/ranks/ranks.h"
#include "identity/repeats/file_reading.h"
#include "summarize/gather_readings.h"
#include "team/wire.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace traceloom {
namespace {

struct ClockChunk : ChunkResult {
  FileEvidence evidence;
  StartTimes starts;
};

class ClockReader : public FileVisitor {
 public:
  ClockReader(std::size_t files, bool keep_going) : files_(files), keep_going_(keep_going) {}

  std::vector<FileReading>& files() { return files_; }

  std::unique_ptr<ChunkResult> make_result() override { return std::make_unique<ClockChunk>(); }

  void visit(ChunkResult& result, std::size_t, const Event& event) override {
    ClockChunk& found = static_cast<ClockChunk&>(result);
    if (event.phase == 'M') return found.evidence.add(event);
    if (event.phase == 'E') return;
    if (SyncMarks::is_mark(event)) found.evidence.add(event);
    const EventTiming timing = time_event(event, result.problems);
    if (!timing.usable) return;
    found.starts.add(timing.start_ns, event.offset);
    found.evidence.add_begin(event, timing);
  }

  void take(ChunkResult& result, std::size_t file) override {
    const ClockChunk& found = static_cast<ClockChunk&>(result);
    files_[file].evidence.append(found.evidence);
    files_[file].starts.add(found.starts);
  }

  void end_file(std::size_t file, const FileEnd& end) override { files_[file].end(end); }

  void fail_file(std::size_t file, const Error& error) override {
    if (!keep_going_) stop_at(error, files_.size());
    files_[file].error = error.what();
  }

 private:
  std::vector<FileReading> files_;
  bool keep_going_;
};

// Returns one window an input, once all files have been read.
std::vector<FileWindow> windows_of(const std::vector<Input>& inputs,
                                   std::vector<FileReading>& files,
                                   const TimeSelection& selection) {
  mark_repeats(inputs, files);
  std::vector<std::size_t> readable;
  std::vector<Input> readable_inputs;
  std::vector<FileEvidence> evidence;
  std::vector<StartTimes> starts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!files[i].counts()) continue;
    readable.push_back(i);
    readable_inputs.push_back(inputs[i]);
    evidence.push_back(files[i].evidence);
    starts.push_back(files[i].starts);
  }
  const std::vector<FileRank> ranks = assign_ranks(readable_inputs, evidence);
  const ClockPlan plan = plan_clocks(readable_inputs, evidence, ranks, starts);

  std::vector<FileWindow> windows(inputs.size());
  for (std::size_t i = 0; i < readable.size(); ++i) {
    windows[readable[i]].times = plan.clocks[i].times.since(plan.origin_ns);
    TimeWindow& window = windows[readable[i]].window;
    window.from_ns = selection.from_ns.value_or(window.from_ns);
    window.to_ns = selection.to_ns.value_or(window.to_ns);
  }
  return windows;
}

}  // namespace

std::vector<FileWindow> find_windows(const std::vector<Input>& inputs,
                                     const TimeSelection& selection, bool keep_going,
                                     const ScanOptions& options, Team& team) {
  ClockReader reader(inputs.size(), keep_going);
  team.agree([&] { scan_inputs(inputs, reader, options); });
  gather_readings(team, options.files, reader.files());
  std::vector<FileWindow> windows;
  if (team.is_first()) windows = windows_of(inputs, reader.files(), selection);
  return broadcast(team, std::move(windows));
}

}  // namespace traceloom
