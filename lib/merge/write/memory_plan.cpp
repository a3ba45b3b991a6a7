#include "merge/write/memory_plan.h"

#include "base/error.h"
#include "base/units.h"
#include "merge/order/time_sorter.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// Measured on 8 files of 64 MB, with a reader of the output that lets all chunks pile up: 8 to 10
// MiB without any chunk, packed or not, and 2.1 MiB a chunk. A chunk of B and E events alone takes
// 3 MiB, and up to 5.2 MiB if nearly every character of the text is a control character that is
// written as six.
constexpr std::uint64_t kProgramBytes = 12 * kMiB;
// OrderWindow holds four blocks back.
constexpr std::uint64_t kWindowBytes = 8 * kMiB;
// TimeSorter: the texts that it gathers, their places, and the buffers of what it reads back.
constexpr std::uint64_t kSorterBytes =
    2 * TimeSorter::kRunBytes + TimeSorter::kMaxRuns * SortedRun::kBufferBytes;

constexpr std::uint64_t kBytesOfChunk = 4 * kMiB;
// A large event is in the text that is gathered (which grows by doubling) and in what is written;
// the other copies stand for gaps that large events leave.
constexpr std::uint64_t kCopiesOfEvent = 6;
// The halves, and what has been joined of them but is not yet written.
constexpr std::uint64_t kCopiesOfJoined = 2;

constexpr std::uint64_t kLeastJoinBytes = kMiB / 2;
constexpr std::uint64_t kLeastEventBytes = kMiB;
constexpr std::uint64_t kLeastMemory = kProgramBytes + kWindowBytes + kBytesOfChunk +
                                       kCopiesOfJoined * kLeastJoinBytes +
                                       kCopiesOfEvent * kLeastEventBytes;

}  // namespace

MemoryPlan plan_memory(std::optional<std::uint64_t> max_memory, unsigned threads, bool sorts) {
  MemoryPlan plan;
  plan.threads = static_cast<unsigned>(thread_count(threads));
  plan.chunks_in_flight = kChunksPerThread * plan.threads;
  if (!max_memory) return plan;
  const std::uint64_t of_sorter = sorts ? kSorterBytes : 0;
  const std::uint64_t least = kLeastMemory + of_sorter;
  if (*max_memory < least)
    throw UsageError(fmt::format("--max-memory: {} is too little; a merge{} needs {} at least",
                                 format_bytes(*max_memory), sorts ? " with --sort" : "",
                                 format_bytes(least)));
  std::uint64_t rest = *max_memory - kProgramBytes - kWindowBytes - of_sorter;
  // Chunks get memory first, up to half of it: they are what makes a merge fast.
  plan.chunks_in_flight =
      std::clamp<std::uint64_t>(rest / 2 / kBytesOfChunk, 1, plan.chunks_in_flight);
  plan.threads =
      static_cast<unsigned>(std::min<std::uint64_t>(plan.threads, plan.chunks_in_flight));
  rest -= plan.chunks_in_flight * kBytesOfChunk;
  const std::uint64_t to_share = rest - kCopiesOfEvent * kLeastEventBytes;
  plan.max_join_bytes = std::clamp<std::uint64_t>(to_share / 4 / kCopiesOfJoined, kLeastJoinBytes,
                                                  plan.max_join_bytes);
  rest -= plan.max_join_bytes * kCopiesOfJoined;
  plan.max_event_bytes = std::min<std::uint64_t>(rest / kCopiesOfEvent, plan.max_event_bytes);
  return plan;
}

}  // namespace traceloom
