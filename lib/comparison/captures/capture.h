// Captures: what a comparison needs to know of a profiled run, and the rows into which its time
// is split.
#pragma once

#include "analysis/waits/step_roles.h"
#include "run/run.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// StepContents tells what ran in the steps of a capture.

// canonical_name: returns the part of a kernel's name that stays when it is compiled for other
// sizes.
//
//   canonical_name("ampere_fp16_s16816gemm_fp16_128x128_ldg8_stages_64x3_tn")
//   == canonical_name("ampere_fp16_s16816gemm_fp16_64x64_ldg8_stages_32x6_tn")
//
// It leaves out template arguments, parameters, addresses and all numbers, and of a wait for
// torch's DataLoader the class of the iterator. Different kernels may have one canonical name: a
// GEMM with other tiles may be another GEMM. So it only joins names that are missing on the other
// side, and match_rows() looks at their operators and places, too.

std::string canonical_name(std::string_view name);

// StepContents: which steps of a capture had the same work.
//
//   const StepContents contents = find_contents(run, roles, steps);
//   contents.different[contents.of_step[5]]                // {"adam_kernel", "gemm", ...}
//
// The content of a step is the set of canonical names of the kernels and collectives that began in
// it, over all ranks; of operators and collectives on ranks without a device. Numbers of calls,
// copies and times are none of it.

using StepContent = std::vector<std::string>;  // ascending

// The most frequent contents of a capture stay, and others are joined, each to that with which it
// has most in common. Where more than one step of thirty has others, one more stays, and says so.
inline constexpr std::size_t kMostContents = 5;

struct StepContents {
  std::vector<StepContent> different = {};  // at most kMostContents + 1, by their first step
  std::vector<std::uint32_t> of_step = {};  // index in `different`; empty: not known

  std::uint32_t count() const { return static_cast<std::uint32_t>(different.size()); }
};

// Returns the share of the names of both that both have.
double overlap(const StepContent& one, const StepContent& other);
// Returns the index of the content with the largest overlap, the first of several. There is one.
std::uint32_t nearest_content(const StepContent& one, const std::vector<StepContent>& others);

// The first step is none of those that are compared, so it has the content that is nearest. All
// processes of a team call this, and get the same.
StepContents find_contents(const Run& run, const std::vector<RankRoles>& roles,
                           const std::vector<StepKey>& steps);

// Returns the times of the steps on a rank, ascending by key; of several with one key, the longest.
std::vector<std::pair<StepKey, Interval>> times_of(const RankRoles& rank,
                                                   const std::vector<StepKey>& steps);

// Capture: what a comparison needs to know of one profiled run.
//
//   const Run run = read_run({.inputs = expand_inputs({"c0/"}), .shapes = true, .python = true});
//   const Capture capture = make_capture(run, "c0");
//   capture.value_ns                                       // 15428822: its mean middle step
//
// A capture is one number (comparison/judge/judge.h) and the rows whose times add up to it, of the
// same steps: of each rank, each instant of these steps belongs to one row. That is a row of the
// first role that has the instant (Role's order, as in `steps`), and of that role's events the one
// that began first.

// Identifies a row. `op` is the operator that launched the work; "" on the host, and if it is not
// known. `module` is the torch module in which it was launched (LaunchModules); "" if it is not
// known. On a rank without devices, operators have the module in which they began.
struct RowKey {
  Role role = Role::other;
  std::string op;
  std::string name;  // "" for the time without any event
  std::string module = {};

  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

// A key that the rows of many ranks and captures share: there may be millions of rows.
using SharedKey = std::shared_ptr<const RowKey>;
inline SharedKey shared_key(RowKey key) {
  return std::make_shared<const RowKey>(std::move(key));
}
struct KeyOrder {
  bool operator()(const SharedKey& a, const SharedKey& b) const { return a != b && *a < *b; }
};

// End the names of the two rows of a collective that was found on other ranks, too: the wait for
// the last rank, and the transfer, which has its calls.
inline constexpr std::string_view kWaitSuffix = ": wait";
inline constexpr std::string_view kTransferSuffix = ": transfer";

// Sums over the steps of CaptureRank.
struct CaptureRow {
  SharedKey key;
  std::int64_t exclusive_ns = 0;  // instants of the steps that belong to it
  std::int64_t total_ns = 0;      // length of the events that began in the steps
  std::int64_t count = 0;         // number of these events

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    RowKey own = key ? *key : RowKey();
    wire(own, exclusive_ns, total_ns, count);
    if constexpr (Wire::kReads) key = shared_key(std::move(own));
  }
};

// The middle steps of a capture on one rank. A capture with several contents has once more the
// middle steps of each.
struct CaptureRank {
  std::int64_t rank = 0;
  std::optional<std::uint32_t> content = {};  // index in StepContents::different; nullopt: of all
  std::size_t steps = 0;                      // number of these middle steps that this rank has
  std::int64_t total_ns = 0;     // time of these steps: the exclusive times of all rows
  std::vector<CaptureRow> rows;  // ascending by key
  // Kernels of the first of these steps on the stream with the most of them, in order: indices in
  // `rows`.
  std::vector<std::uint32_t> sequence;
};

// The device time of an operator's calls with one list of input shapes.
struct ShapeTime {
  std::string op;
  std::string shapes;  // "Input Dims" as written
  std::int64_t ns = 0;

  friend bool operator==(const ShapeTime&, const ShapeTime&) = default;
};

struct Capture {
  std::string name;                 // how messages name it: "new/c0"
  std::int64_t world_size = 0;      // as the files say; 0 if they do not
  std::set<std::string> devices;    // names of the devices
  std::set<std::string> producers;  // programs that wrote the files
  bool has_python = false;          // Python's functions were recorded
  // The most that torch's allocator gave out on one device, or on the host if it recorded no
  // device; nullopt if it was not recorded or the run was read without samples.
  std::optional<std::int64_t> peak_bytes = {};
  std::vector<std::int64_t> steps_ns;  // each step on the rank on which it takes longest
  std::optional<double> value_ns;      // nullopt: too few steps
  StepContents contents = {};      // not known if there are too few steps, or a baseline is older
  std::vector<CaptureRank> ranks;  // ascending by rank and content
  std::vector<ShapeTime> shapes;   // ascending by op and shapes
};

// Returns the ranks of the capture, ascending.
std::vector<std::int64_t> ranks_in(const Capture& capture);

// Returns the numbers of the captures that have one.
std::vector<double> values_of(const std::vector<Capture>& captures);

// Returns the capture whose number is the median, by nearest rank; the first one if none has a
// number, and nullptr if there is none.
const Capture* median_capture(const std::vector<Capture>& captures);

// The run must have been read with shapes and python. With too few steps for a value,
// the rows are of all steps but the first, or of the only one. All processes of a team that have
// read it spread call this, and get the same.
Capture make_capture(const Run& run, const std::string& name);

}  // namespace traceloom
