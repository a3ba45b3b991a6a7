// The training steps of a rank, the runs they belong to, and the times at which the rank was
// recorded.
#pragma once

#include "base/by_enum.h"
#include "base/packed_rows.h"
#include "run/event_columns.h"
#include "run/intervals.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

// Steps: the training steps of a rank, with their begins and ends.
//
//   StepList steps = find_steps(parts);
//   for (const Step& step : steps.list) use(step.number, step.time);
//
// Steps are found by the first of these marks that the rank has:
// 1. Iterations of inference engines. They are numbered in order. If one lies in another (two parts
//    of an engine mark it), both are one iteration. Like torch's steps, they are extended to the
//    end of their device work. Those that are neither prefill nor decode are only counted.
// 2. XLA: the spans on its devices' own rows of steps; each step lasts until the next one begins,
//    unless steps are missing between them.
// 3. torch: ProfilerStep#N, or a range of JAX's host with a step_num. As in tb_plugin, a step
//    begins where the previous one ended and lasts until its own host range and the last of its
//    device work have ended.
// 4. Composer: from the begin of the wait for data, or else of event/batch, to the end of
//    event/batch.
// 5. Coarse time lines: from the first begin to the last end of the operations of a step.
// 6. Without marks: one step with number 0 from the first to the last event of each file, whether
//    of its host, its calls or its devices; files of the same time share one.
//
// The tail of torch steps and iterations does not count: steps after the last one with device work,
// and the last one if it has less than 0.8 of the device work of the previous one (of the same
// phase), because the profiler lost its end. If there are several runs, each has its own tail.
//
// A step of length 0 does not count either. Nothing is known of one whose time the device work of
// the step before takes up.

// The work of an iteration of an inference engine. Iterations that process prompts differ so much
// from those that do not that no mean covers both.
enum class StepPhase : std::uint8_t {
  none,  // a step of a training, or an unmarked step
  prefill,
  decode
};
// Returns "prefill" or "decode", and an empty text for none.
constexpr std::string_view to_string(StepPhase phase) {
  return name_in({"", "prefill", "decode"}, phase);
}
static_assert(to_string(StepPhase::decode) == "decode");

struct Step {
  StepPhase phase = StepPhase::none;
  std::int64_t number = 0;
  std::int64_t epoch = kNoId;    // epoch of Composer
  std::uint32_t run = 0;         // how often numbers had started again before it: see steps.h
  Interval time;                 // time for which statistics are computed
  Interval host;                 // range that the host marked; with Composer the batch alone
  std::uint64_t device_ops = 0;  // number of device operations launched in it, if it is marked
  bool counted = true;           // false for a step that counts in no mean
};

template <>
struct RowCodec<Step> {
  static constexpr std::size_t kMostBytes = 1 + 8 * kMostNumberBytes;
  static void write(PackedWriter& to, const Step& before, const Step& row);
  static void read(PackedReader& from, Step& row);
};

// Identifies a step; the same step has the same key on all ranks.
struct StepKey {
  std::uint32_t run = 0;
  std::int64_t epoch = kNoId;
  std::int64_t number = kNoId;

  auto operator<=>(const StepKey&) const = default;
};
inline StepKey key_of(const Step& step) {
  return {step.run, step.epoch, step.number};
}

enum class StepKind : std::uint8_t { none, torch, composer, iterations, xla, operations };
constexpr std::string_view to_string(StepKind kind) {
  return name_in({"none", "ProfilerStep", "event/batch", "iteration", "XLA Steps", "args.step"},
                 kind);
}
static_assert(to_string(StepKind::operations) == "args.step");

// The steps are ascending by time and do not overlap. They are packed because runs with tiny steps
// have millions of them.
struct StepList {
  StepKind kind = StepKind::none;
  PackedRows<Step> list;
  std::uint64_t dropped = 0;  // number of steps of the tail, which do not count
  bool open_end = false;      // the last step does not count, because its end is not known
  std::uint64_t lost = 0;     // number of steps that do not count because device work of theirs was
                              // lost (impossible_work.h)
  std::uint64_t instant = 0;  // number of steps without length, which do not count
  std::uint64_t startup = 0;  // number of steps that do not count, because a run started up in them
  std::uint64_t rest = 0;     // number of iterations that are no steps: SpanMark::rest
  Intervals probes;           // Composer's waits for data that no batch followed

  Intervals times() const;
};

StepList find_steps(const std::vector<EventColumns>& parts);

// StepsByTime: finds the step of a rank at a time. There is none if no steps are marked.
//
//   const StepsByTime steps(rank.steps);
//   if (const Step* step = steps.at(span.start_ns)) use(step->number);
class StepsByTime {
 public:
  explicit StepsByTime(const StepList& steps) {
    if (steps.kind != StepKind::none) steps_.assign(steps.list.begin(), steps.list.end());
  }
  // Returns the last step that has begun at `ns`, over or not; nullptr if none has.
  const Step* begun_at(std::int64_t ns) const {
    const auto later = std::ranges::upper_bound(steps_, ns, {},
                                                [](const Step& step) { return step.time.from_ns; });
    return later == steps_.begin() ? nullptr : &later[-1];
  }
  // Returns the step that has the instant, or nullptr.
  const Step* at(std::int64_t ns) const {
    const Step* const step = begun_at(ns);
    return step != nullptr && ns < step->time.to_ns ? step : nullptr;
  }

 private:
  std::vector<Step> steps_;
};

// RunCounter: numbers the runs of a rank: recordings of a job that was started again, whose steps
// repeat the numbers of earlier steps.
//
//   RunCounter runs;
//   for (Step& step : steps) step.run = runs.run_of(step);    // 0, 0, 0, 1, 1
//   align_runs(ranks, common_clock);
//
// A run begins with a step whose number (with Composer: its number in its epoch) is not larger than
// that of the previous step. So merged and separate files of a rank give the same runs. Without
// step numbers there is only one run.

struct RankEvents;

class RunCounter {
 public:
  // Takes steps in time order.
  std::uint32_t run_of(const Step& step);

 private:
  StepKey before_;
};

// Makes the run numbers of ranks agree if ranks have different runs, for example because a file of
// one is missing: runs at the same time on the common clock get the same number. Without a common
// clock, the n-th run of a rank stays the n-th.
void align_runs(std::vector<RankEvents>& ranks, bool common_clock);

// Leaves the first step of a run out of the means of all ranks, if on any rank it takes over twice
// the median of the others (two or more): it starts workers, compiles and fills caches. Call it
// after align_runs().
void leave_out_startup(std::vector<RankEvents>& ranks);

// find_unrecorded: when a rank was not recorded. Between two recordings nothing is known about the
// rank, so it does not count as idle there.
//
//   rank.unrecorded = find_unrecorded(rank.parts, rank.steps);
//   if (holds_any(rank.unrecorded, gap)) ...                    // two runs, and no gap of one

// Returns the times at which nothing was recorded: between the files of a rank, and, for files that
// a merge has joined, between two steps of torch whose numbers are not consecutive. There it is the
// longest time without any event.
Intervals find_unrecorded(const std::vector<EventColumns>& parts, const StepList& steps);

// True if an interval of the set has instants in `window`.
bool holds_any(const Intervals& set, const Interval& window);

}  // namespace traceloom
