// Steps: which training steps a rank has, and when each begins and ends.
//
//   StepList steps = find_steps(parts);
//   for (const Step& step : steps.list) use(step.number, step.time);
//
// torch: ProfilerStep#N, extended to the end of what it launched on devices, as tb_plugin does: a
// step begins where the one before it ended and lasts until its own host range and the last of its
// device work have ended. The tail does not count: steps behind the last one with device work, and
// the last one where it has less than 0.8 of the device work of the one before it (the profiler
// lost it); each run of several has its own. Inference engines: their iterations, likewise; they
// have the numbers of their order, one that lies in another is the same, as where two parts of an
// engine mark it, and the last one is compared with the one of its phase before it. XLA: the spans
// of its devices' own rows of steps, each until the next begins, else the host's ranges with a
// step_num, as torch's. Composer: from the begin of the wait for its data, else of event/batch, to
// the end of event/batch. Neither: one step, number 0, from the first to the last event, for each
// file unless they are of one time.
#pragma once

#include "run/event_columns.h"
#include "run/packed_rows.h"

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace traceloom {

// What an iteration of an inference engine does: one that takes prompts in is another thing than
// one that does not, and there is no mean of both.
enum class StepPhase : std::uint8_t {
  none,  // of a step of a training, and of an unmarked one
  prefill,
  decode
};
// "prefill", "decode"; empty for none.
std::string_view to_string(StepPhase phase);

struct Step {
  StepPhase phase = StepPhase::none;
  std::int64_t number = 0;
  std::int64_t epoch = kNoId;    // of Composer
  std::uint32_t run = 0;         // how many times a number had come again: see step_runs.h
  Interval time;                 // what statistics are about
  Interval host;                 // as the host marked it; of Composer the batch alone
  std::uint64_t device_ops = 0;  // launched in it
  bool counted = true;           // false for the tail: it counts in no mean
};

template <>
struct RowCodec<Step> {
  static constexpr std::size_t kMostBytes = 1 + 8 * kMostNumberBytes;
  static void write(PackedWriter& to, const Step& before, const Step& row);
  static void read(PackedReader& from, Step& row);
};

// A StepKey tells which step it is, and is the same on all ranks.
struct StepKey {
  std::uint32_t run = 0;
  std::int64_t epoch = kNoId;
  std::int64_t number = kNoId;

  friend bool operator==(const StepKey&, const StepKey&) = default;
  friend bool operator<(const StepKey& a, const StepKey& b) {
    return std::tie(a.run, a.epoch, a.number) < std::tie(b.run, b.epoch, b.number);
  }
};
inline StepKey key_of(const Step& step) {
  return {step.run, step.epoch, step.number};
}

enum class StepKind : std::uint8_t { none, torch, composer, iterations, xla };
std::string_view to_string(StepKind kind);

// Ascending by time; they do not overlap. Packed, as runs with tiny steps have millions of them.
struct StepList {
  StepKind kind = StepKind::none;
  PackedRows<Step> list;
  std::uint64_t dropped = 0;  // of the tail: not counted
  Intervals probes;           // waits of Composer for data that no batch followed

  Intervals times() const;
};

StepList find_steps(const std::vector<EventColumns>& parts);

}  // namespace traceloom
