#include "run/impossible_work.h"

#include "base/ascii.h"
#include "event/event.h"
#include "identity/evidence/event_marks.h"
#include "run/launches.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace traceloom {
namespace {

// In fewer steps, launches without work in the same place may be chance.
constexpr std::size_t kFewestSteps = 3;
// Without marked steps, less than one launch in this number may lack work.
constexpr std::size_t kFewOfUnmarked = 20;

// OverlongWork points into columns that a growing list moves.
static_assert(std::is_nothrow_move_constructible_v<EventColumns>);

StreamWork stream_work(const DeviceSpan& span) {
  return {span.start_ns, span.end_ns, span.stream, span.correlation};
}

// Finds the launches into a graph that is being captured. Backward launches on a thread of its own,
// so a capture holds those of all threads of its file, from its begin to its end.
class Captures {
 public:
  Captures(const std::vector<EventColumns>& parts, const Labels& labels) {
    for (const EventColumns& part : parts)
      for (const CallSpan& call : part.calls) {
        const std::string_view name = labels.name(call.label);
        const bool begins = name.find("StreamBeginCapture") != name.npos;
        if (begins || name.find("StreamEndCapture") != name.npos)
          bounds_[part.file][call.start_ns] = begins;
      }
  }

  // One bound is enough: the other one may lie outside the recording, or beyond another capture.
  bool hold(const EventColumns& part, const CallSpan& call) const {
    const auto file = bounds_.find(part.file);
    if (file == bounds_.end()) return false;
    const auto next = file->second.upper_bound(call.start_ns);
    return (next != file->second.begin() && std::prev(next)->second) ||
           (next != file->second.end() && !next->second);
  }

 private:
  std::map<std::size_t, std::map<std::int64_t, bool>> bounds_;  // by file and time: is a begin
};

}  // namespace

void OverlongWork::cut(std::vector<DeviceSpan>& work, const Labels& labels) {
  while (is_on_stream_.size() < labels.size()) {
    const auto label = static_cast<std::uint32_t>(is_on_stream_.size());
    is_on_stream_.push_back(
        std::ranges::count(kStreamCategories, to_lower(labels.category(label))) > 0);
  }
  for (DeviceSpan& span : work) {
    if (!is_on_stream_[span.label] || span.stream == kNoId) continue;
    const StreamWork piece = stream_work(span);
    if (const auto open = open_.empty() ? open_.end() : open_.find(span.track);
        open != open_.end() && stream_work(*open->second).is_overlong_before(piece)) {
      open->second->end_ns = span.start_ns;
      open_.erase(open);
    }
    if (piece.may_be_overlong()) open_[span.track] = &span;
  }
}

bool launches_kernels(std::string_view call) {
  const std::string lower = to_lower(call);
  return lower.find("launch") != lower.npos && lower.find("launchhostfunc") == lower.npos;
}

KernelLaunches::KernelLaunches(const std::vector<EventColumns>& parts, const Labels& labels) {
  if (std::ranges::all_of(parts, &std::vector<DeviceSpan>::empty, &EventColumns::devices)) return;
  Launches launches(parts);
  for (const EventColumns& part : parts)
    for (const DeviceSpan& span : part.devices) launches.mark(part, span);
  std::vector<bool> is_launch(labels.size());
  for (std::uint32_t label = 0; label < labels.size(); ++label)
    is_launch[label] =
        labels.kind(label).place == EventPlace::call && launches_kernels(labels.name(label));
  std::vector<bool> has_work(labels.size());
  bool any_lost = false;
  const auto for_each_launch = [&](auto use) {
    for (const EventColumns& part : parts)
      for (const CallSpan& call : part.calls)
        if (is_launch[call.label] && call.correlation != kNoId)
          use(part, call, launches.is_marked(call));
  };
  for_each_launch([&](const EventColumns&, const CallSpan& call, bool works) {
    if (works) has_work[call.label] = true;
    any_lost |= !works;
  });
  if (!any_lost || std::ranges::count(has_work, true) == 0) return;
  const Captures captures(parts, labels);
  for_each_launch([&](const EventColumns& part, const CallSpan& call, bool works) {
    if (works || (has_work[call.label] && !captures.hold(part, call)))
      launches_.push_back({call, part.file, works});
  });
  std::ranges::stable_sort(launches_, {},
                           [](const Launch& launch) { return launch.call.start_ns; });
}

void KernelLaunches::select(const TimeWindow& window) {
  std::erase_if(launches_,
                [&](const Launch& launch) { return !window.contains(launch.call.start_ns); });
}

std::set<const KernelLaunches::Launch*> KernelLaunches::without_work(const StepList& steps) const {
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::size_t>;  // track, label and number
  std::map<Place, std::vector<const Launch*>> lacking;
  std::size_t working_steps = 0;
  auto launch = launches_.begin();
  for (const Step& step : steps.list) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers;
    std::vector<std::pair<Place, const Launch*>> of_step;
    bool works = false;
    for (; launch != launches_.end() && launch->call.start_ns < step.host.to_ns; ++launch) {
      if (launch->call.start_ns < step.host.from_ns) continue;
      const CallSpan& call = launch->call;
      const std::size_t number = numbers[{call.track, call.label}]++;
      works |= launch->has_work;
      if (!launch->has_work) of_step.push_back({{call.track, call.label, number}, &*launch});
    }
    if (!works) continue;
    ++working_steps;
    for (const auto& [place, one] : of_step) lacking[place].push_back(one);
  }
  std::set<const Launch*> found;
  for (const auto& [place, of_steps] : lacking)
    if (of_steps.size() >= kFewestSteps && of_steps.size() * 2 > working_steps)
      found.insert(of_steps.begin(), of_steps.end());
  return found;
}

std::map<std::size_t, std::uint64_t> KernelLaunches::leave_out_lost(
    StepList& steps, const Intervals& unrecorded) const {
  const std::set<const Launch*> expected = without_work(steps);
  std::map<std::size_t, std::uint64_t> lost;
  std::vector<std::int64_t> begins;  // of lost launches, descending
  bool has_later = false;            // work was launched later in the same recording
  auto gap = unrecorded.rbegin();
  for (auto launch = launches_.rbegin(); launch != launches_.rend(); ++launch) {
    for (; gap != unrecorded.rend() && launch->call.start_ns < gap->to_ns; ++gap) has_later = false;
    has_later |= launch->has_work;
    if (launch->has_work || !has_later || expected.contains(&*launch)) continue;
    ++lost[launch->file];
    begins.push_back(launch->call.start_ns);
  }
  const bool is_little =
      steps.kind == StepKind::none && begins.size() * kFewOfUnmarked < launches_.size();
  if (begins.empty() || is_little) return lost;
  steps.list.rewrite([&](Step& step) {
    const auto first = std::ranges::upper_bound(begins, step.host.to_ns, std::greater<>());
    if (step.counted && first != begins.end() && *first >= step.host.from_ns) {
      step.counted = false;
      ++steps.lost;
    }
    return true;
  });
  return lost;
}

}  // namespace traceloom
