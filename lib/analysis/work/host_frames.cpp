#include "analysis/work/host_frames.h"

#include "base/saturating.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace traceloom {
namespace {

constexpr double kAroundAll = 0.90;       // share of the steps of a frame that is around everything
constexpr double kMostOfIt = 0.50;        // share of a frame's time from which an inner frame is
                                          // worth reporting
constexpr double kInside = 0.80;          // share of a frame inside another from which it is no
                                          // separate time
constexpr std::int64_t kLeastPart = 200;  // frames shorter than this part of the code are left out
constexpr std::size_t kMostFunctions = 3;

struct LabelTime {
  std::uint32_t label = 0;
  Intervals time = {};  // united times of all its frames
  std::int64_t code_ns = 0;
};

// Returns frames that are long enough to matter, by label.
std::vector<LabelTime> long_frames(const Run& run, const RankEvents& rank, const Intervals& code) {
  const std::vector<bool> tracks = host_tracks(run, rank);
  IntervalLengths lengths(code);
  const std::int64_t least_ns = total_ns(code) / kLeastPart;
  std::map<std::uint32_t, LabelTime> labels;
  rank.for_each_frame([&](const HostSpan& span) {
    if (span.end_ns - span.start_ns < least_ns || !tracks[span.track]) return;
    if (run.labels.kind(span.label).mark != SpanMark::none) return;
    if (lengths.in(span.interval()) >= least_ns) labels[span.label].time.push_back(span.interval());
  });
  std::vector<LabelTime> found;
  for (auto& [label, frame] : labels) {
    frame.label = label;
    frame.time = unite(std::move(frame.time));
    for (const Interval& piece : frame.time) add_to(frame.code_ns, lengths.in(piece));
    found.push_back(std::move(frame));
  }
  return found;
}

bool is_inside(const LabelTime& frame, const LabelTime& other) {
  return static_cast<double>(total_ns(intersect(frame.time, other.time))) >=
         kInside * static_cast<double>(total_ns(frame.time));
}

FrameSum describe(const Run& run, const LabelTime& frame, const std::vector<LabelTime>& all) {
  FrameSum sum = read_frame(run.labels.name(frame.label));
  sum.ns = frame.code_ns;
  const LabelTime* inner = nullptr;
  for (const LabelTime& other : all) {
    if (other.label == frame.label || total_ns(other.time) >= total_ns(frame.time)) continue;
    if (static_cast<double>(other.code_ns) < kMostOfIt * static_cast<double>(sum.ns)) continue;
    if (!is_inside(other, frame)) continue;
    if (inner == nullptr || total_ns(other.time) < total_ns(inner->time)) inner = &other;
  }
  if (inner == nullptr) return sum;
  sum.inner = read_frame(run.labels.name(inner->label)).text();
  sum.inner_ns = inner->code_ns;
  return sum;
}

}  // namespace

std::string FrameSum::text() const {
  return file.empty() ? name : fmt::format("{} ({})", name, file);
}

FrameSum read_frame(std::string_view label) {
  FrameSum frame;
  const std::size_t colon = label.find("): ");
  const std::size_t bracket =
      colon == std::string_view::npos ? colon : label.substr(0, colon).rfind('(');
  if (bracket != std::string_view::npos) {
    frame.file = label.substr(0, bracket);
    label.remove_prefix(colon + 3);
  }
  const std::size_t address = label.find(" at 0x");
  frame.name = label.substr(0, address);
  if (address != std::string_view::npos && label.ends_with('>')) frame.name += '>';
  return frame;
}

std::vector<bool> host_tracks(const Run& run, const RankEvents& rank) {
  std::vector<bool> tracks(run.tracks.size(), false);
  bool any = false;
  rank.for_each_call([&](const CallSpan& call) {
    if (call.correlation != kNoId) any = tracks[call.track] = true;
  });
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark == SpanMark::step) any = tracks[span.track] = true;
  });
  if (!any) rank.for_each_host([&](const HostSpan& span) { tracks[span.track] = true; });
  return tracks;
}

std::vector<FrameSum> top_frames(const Run& run, const RankEvents& rank, const Intervals& code,
                                 const Intervals& steps) {
  std::vector<LabelTime> all = long_frames(run, rank, code);
  const auto most = static_cast<double>(total_ns(steps));
  const auto is_around_all = [&](const LabelTime& frame) {
    return static_cast<double>(total_ns(intersect(frame.time, steps))) >= kAroundAll * most;
  };
  // If one function covers everything, the innermost of such functions is reported.
  if (!std::all_of(all.begin(), all.end(), is_around_all)) {
    std::erase_if(all, is_around_all);
    std::stable_sort(all.begin(), all.end(), [](const LabelTime& a, const LabelTime& b) {
      return a.code_ns != b.code_ns ? a.code_ns > b.code_ns : total_ns(a.time) > total_ns(b.time);
    });
  } else {
    std::stable_sort(all.begin(), all.end(), [](const LabelTime& a, const LabelTime& b) {
      return total_ns(a.time) < total_ns(b.time);
    });
  }
  std::vector<const LabelTime*> chosen;
  for (const LabelTime& frame : all) {
    if (chosen.size() == kMostFunctions) break;
    const bool is_other = std::none_of(chosen.begin(), chosen.end(), [&](const LabelTime* other) {
      return is_inside(frame, *other) || is_inside(*other, frame);
    });
    if (is_other) chosen.push_back(&frame);
  }
  std::vector<FrameSum> sums;
  sums.reserve(chosen.size());
  for (const LabelTime* const frame : chosen) sums.push_back(describe(run, *frame, all));
  return sums;
}

}  // namespace traceloom
