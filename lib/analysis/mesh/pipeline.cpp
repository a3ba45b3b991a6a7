#include "analysis/mesh/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

// Returns the counted step of median length; nullopt if there is none.
std::optional<StepKey> median_step(const std::vector<RankRoles>& roles) {
  std::vector<StepLength> steps = longest_steps(roles);
  if (steps.empty()) return std::nullopt;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::ranges::nth_element(steps, middle, {}, &StepLength::second);
  return middle->first;
}

// A stage sends what it has worked on. Work whose result goes to no other stage is that of the last
// stage forward and of the first one backward: it is known by the message that it begins with,
// which
// is asked for right before. Kernels may begin late, so the order is that of their launches.
class Grid {
 public:
  Grid(const Run& run, const Mesh& mesh, const std::vector<RankRoles>& roles)
      : run_(run), mesh_(mesh) {
    const std::optional<StepKey> key = median_step(roles);
    for (std::size_t i = 0; key && i < roles.size(); ++i) {
      const MeshPlace* const place = mesh.place_of(run.ranks[i].rank);
      if (place == nullptr || place->tensor + place->context + place->data > 0) continue;
      for (const StepRoles& step : roles[i].steps)
        if (key_of(step.step) == *key) times_[i] = step.step.time;
    }
  }

  std::vector<StageWork> rows() {
    for (const Message& message : match_collectives(run_).messages) {
      if (message.way == MessageWay::unknown) return {};
      add(message.sent, message.sent_launch, message.way, true);
      add(message.received, message.received_launch, message.way, false);
    }
    std::vector<StageWork> rows;
    for (auto& [rank, work] : work_) {
      StageWork row{mesh_.place_of(run_.ranks[rank].rank)->stage, run_.ranks[rank].rank};
      std::ranges::sort(work);
      for (const auto& [launch, receives, way] : work) {
        if (launch == kNoId) return {};
        const bool forward = way == MessageWay::forward;
        row.order += fmt::format("{}{}{}", row.order.empty() ? "" : " ", forward ? 'F' : 'B',
                                 (forward ? row.forward : row.backward)++);
      }
      if (row.forward != row.backward) return {};
      rows.push_back(std::move(row));
    }
    std::ranges::sort(rows, {}, &StageWork::stage);
    return rows;
  }

 private:
  void add(const CollectivePart& part, std::int64_t launch, MessageWay way, bool sends) {
    const auto time = times_.find(part.rank);
    if (time == times_.end() || part.start_ns < time->second.from_ns ||
        part.start_ns >= time->second.to_ns)
      return;
    const std::int64_t stage = mesh_.place_of(run_.ranks[part.rank].rank)->stage;
    const bool is_end = stage == (way == MessageWay::forward ? mesh_.stages - 1 : 0);
    if (sends != is_end) work_[part.rank].emplace_back(launch, !sends, way);
  }

  const Run& run_;
  const Mesh& mesh_;
  std::map<std::size_t, Interval> times_;  // of the step, by rank
  // A rank has its launches, whether they are receives (a batch sends what was done before), and
  // the ways of their messages.
  std::map<std::size_t, std::vector<std::tuple<std::int64_t, bool, MessageWay>>> work_;
};

}  // namespace

std::vector<StageWork> find_grid(const Run& run, const Mesh& mesh,
                                 const std::vector<RankRoles>& roles) {
  // In interleaved schedules messages are asked for while other work goes on.
  return find_chunks(run, mesh) == 1 ? Grid(run, mesh, roles).rows() : std::vector<StageWork>{};
}

std::int64_t find_chunks(const Run& run, const Mesh& mesh) {
  if (mesh.stages < 2) return mesh.source.empty() ? 0 : 1;
  std::int64_t onward = 0;  // forward from the first stage
  std::int64_t around = 0;  // forward from the last stage
  for (const Message& message : match_collectives(run).messages) {
    const MeshPlace* const from = mesh.place_of(message.from);
    if (message.way != MessageWay::forward || from == nullptr) continue;
    if (from->stage == 0) ++onward;
    if (from->stage == mesh.stages - 1) ++around;
  }
  const bool fits = onward > around && onward % (onward - around) == 0;
  return fits ? onward / (onward - around) : 0;
}

}  // namespace traceloom
