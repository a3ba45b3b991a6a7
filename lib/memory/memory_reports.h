// Other files about memory: reports of trackers, timelines, and pages that hold a pickle.
#pragma once

#include "input/byte_source.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// TrackerReport: what torch's FSDPMemTracker or MemTracker says of one iteration, as MemProfiler
// writes it (fsdp_mem_rank_0_training_step_2.log): the bytes of tensors by kind, device and module.
//
//   const TrackerReport report = parse_tracker_report("fsdp_mem_rank_0_f_2.log", text);
//   for (const TrackerRow& row : report.peak) use(row.device, row.bytes);
//
// Both styles are read: tables between lines of =, and lines "Kind: 12.5 MiB".

struct TrackerRow {
  std::string module;      // empty in the table of peaks
  std::string state = {};  // "Peak Forward"; empty there, too
  std::int64_t call = 1;
  std::string device = {};               // "cuda:0"
  std::vector<std::int64_t> bytes = {};  // by TrackerReport::kinds

  bool is_peak() const { return state.starts_with("Peak "); }
};

struct TrackerReport {
  std::string path;
  std::string function;
  std::int64_t iteration = 0;
  std::vector<std::string> kinds;   // in the order of the file, with kTotalKind as the last
  std::vector<TrackerRow> peak;     // the tracker's last peak: the same in all reports of a rank
  std::vector<TrackerRow> modules;  // in the order of the file
  bool is_rounded = false;          // bytes of modules are rounded to two digits of a unit
  bool is_cut = false;
  std::uint64_t left_out = 0;  // lines of another form
};
inline constexpr std::string_view kTotalKind = "Total";

// Returns the bytes of the kind, 0 if the report lacks it.
std::int64_t bytes_of(const TrackerReport& report, const TrackerRow& row, std::string_view kind);

// Throws Error if the text has no line "Iteration N FUNCTION Peak ... memory stats:".
TrackerReport parse_tracker_report(const std::string& path, std::string_view text);

// MemoryTimeline: the peak and the curve of each category, as torch.profiler's
// export_memory_timeline() wrote them, raw or as JSON.

inline constexpr std::string_view kTimelineCategories[] = {
    "parameter",  "optimizer_state", "input",           "temporary",
    "activation", "gradient",        "autograd_detail", "unknown"};
inline constexpr std::size_t kTimelineCategoryCount = std::size(kTimelineCategories);

// The bytes of each category at a moment.
struct TimelinePoint {
  std::int64_t at_ns = 0;
  std::array<std::int64_t, kTimelineCategoryCount> bytes{};

  std::int64_t sum() const;  // saturates
  friend bool operator==(const TimelinePoint&, const TimelinePoint&) = default;
};
inline constexpr std::size_t kMostTimelinePoints = 1024;

struct MemoryTimeline {
  std::string path;
  std::uint64_t rows = 0;
  std::int64_t peak = 0;
  std::optional<std::int64_t> peak_at_ns;  // absent before the first event
  std::array<std::int64_t, kTimelineCategoryCount> at_peak{};
  // It has at most kMostTimelinePoints, by time: of each part of the rows, the first moment with
  // the highest bytes of each category in the part, and the last moment.
  std::vector<TimelinePoint> curve;
  std::int64_t end = 0;
  std::array<std::int64_t, kTimelineCategoryCount> at_end{};
  std::uint64_t left_out = 0;  // rows of another form
};

// Throws Error with the byte if the text is no list of lists of numbers.
MemoryTimeline parse_memory_timeline(const std::string& path, std::string_view text);

// Returns the bytes of the pickle that a page of torch's memory_viz or of Composer holds as base64.
// Throws Error if there is none.
std::unique_ptr<ByteSource> embedded_pickle(std::unique_ptr<ByteSource> page,
                                            const std::string& name);

}  // namespace traceloom
