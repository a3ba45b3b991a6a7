// The slow twin of replay(): an allocator that runs forward and adds up all blocks after each
// entry. Some of its first entries are then forgotten, as by a ring.
#include "memory/replay.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

using namespace traceloom;

namespace {

constexpr std::int64_t kSmall = std::int64_t{2} << 20;
constexpr std::int64_t kLarge = std::int64_t{20} << 20;
constexpr std::int64_t kSmallRequest = std::int64_t{1} << 20;
constexpr std::uint32_t kPlaces = 5;
constexpr std::uint32_t kFreeStack = kPlaces;  // frees are asked for somewhere else

struct Block {
  std::int64_t bytes;
  std::int64_t requested;
  std::uint32_t stack;
  bool waits = false;
  std::size_t born;  // index of its entry
};

struct Sums {
  std::int64_t requested = 0, active = 0, allocated = 0, reserved = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

// What is there after an entry.
struct State {
  std::map<std::uint64_t, std::int64_t> segments;
  std::map<std::uint64_t, Block> blocks;

  Sums sums() const {
    Sums all;
    for (const auto& [address, bytes] : segments) all.reserved += bytes;
    for (const auto& [address, block] : blocks) {
      all.requested += block.requested;
      all.active += block.bytes;
      if (!block.waits) all.allocated += block.bytes;
    }
    return all;
  }
  // Calls use(address, bytes) for each free piece of a segment.
  void for_each_free(std::uint64_t segment, auto use) const {
    std::uint64_t from = segment;
    const std::uint64_t end = segment + static_cast<std::uint64_t>(segments.at(segment));
    for (auto block = blocks.lower_bound(segment); block != blocks.end() && block->first < end;
         ++block) {
      if (block->first > from) use(from, static_cast<std::int64_t>(block->first - from));
      from = block->first + static_cast<std::uint64_t>(block->second.bytes);
    }
    if (end > from) use(from, static_cast<std::int64_t>(end - from));
  }
  // All free bytes of the pool, and the largest piece.
  std::pair<std::int64_t, std::int64_t> free_of(bool is_small) const {
    std::pair<std::int64_t, std::int64_t> found;
    for (const auto& [segment, size] : segments)
      if ((size == kSmall) == is_small)
        for_each_free(segment, [&](std::uint64_t, std::int64_t bytes) {
          found.first += bytes;
          found.second = std::max(found.second, bytes);
        });
    return found;
  }
};

using OomRow = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool>;

class Allocator {
 public:
  explicit Allocator(std::uint32_t seed) : random_(seed) {
    for (std::size_t count = pick(20, 300); states.size() < count;) step();
  }

  std::vector<MemoryEntry> entries;
  std::vector<State> states;  // after each entry
  std::map<std::size_t, OomRow> ooms;

  std::uint64_t pick(std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(random_);
  }

 private:
  void put(MemoryAction action, std::uint64_t address, std::int64_t bytes,
           std::uint32_t stack = kNoStack) {
    entries.push_back({address, bytes, static_cast<std::int64_t>(entries.size()) * 10 + 1000, stack,
                       action, false});
    states.push_back(now_);
  }

  void step() {
    const std::uint64_t kind = pick(0, 99);
    if (kind < 55)
      return allocate(static_cast<std::int64_t>(pick(1, kind < 30 ? 900'000 : 9'000'000)));
    if (kind < 95 && !now_.blocks.empty()) return free_one();
    if (kind < 97) return put(MemoryAction::snapshot, 0, now_.sums().active);
    if (kind < 98) return run_out(static_cast<std::int64_t>(pick(1, 30'000'000)));
    for (const auto& [segment, bytes] : now_.segments) {
      std::int64_t free = 0;
      now_.for_each_free(segment, [&](std::uint64_t, std::int64_t piece) { free += piece; });
      if (free < bytes) continue;
      const std::uint64_t address = segment;
      const std::int64_t size = bytes;
      now_.segments.erase(address);
      return put(MemoryAction::segment_free, address, size);
    }
  }

  void allocate(std::int64_t requested) {
    const std::int64_t bytes = (requested + 511) / 512 * 512;
    const std::int64_t segment_bytes = requested <= kSmallRequest ? kSmall : kLarge;
    std::uint64_t address = 0;
    for (const auto& [segment, size] : now_.segments)
      if (size == segment_bytes)
        now_.for_each_free(segment, [&](std::uint64_t from, std::int64_t piece) {
          if (address == 0 && piece >= bytes) address = from;
        });
    if (address == 0) {
      address = next_;
      next_ += static_cast<std::uint64_t>(2 * kLarge);
      now_.segments.emplace(address, segment_bytes);
      put(MemoryAction::segment_alloc, address, segment_bytes);
    }
    const auto stack = static_cast<std::uint32_t>(pick(0, kPlaces - 1));
    now_.blocks.emplace(address, Block{bytes, requested, stack, false, entries.size()});
    put(MemoryAction::alloc, address, requested, stack);
  }

  void free_one() {
    const auto chosen = std::next(now_.blocks.begin(),
                                  static_cast<std::ptrdiff_t>(pick(0, now_.blocks.size() - 1)));
    const std::uint64_t address = chosen->first;
    Block& block = chosen->second;
    const std::int64_t requested = block.requested;
    if (!block.waits) {
      block.waits = true;
      put(MemoryAction::free_requested, address, requested, kFreeStack);
      if (pick(0, 3) == 0) return;  // another stream uses it
    }
    now_.blocks.erase(address);
    put(MemoryAction::free_completed, address, requested, kFreeStack);
  }

  void run_out(std::int64_t requested) {
    const auto same = now_.free_of(requested <= kSmallRequest);
    const auto other = now_.free_of(requested > kSmallRequest);
    ooms.emplace(entries.size(),
                 OomRow{requested, now_.sums().reserved, same.first + other.first, same.second,
                        same.first >= requested && same.second < requested});
    put(MemoryAction::oom, 77, requested);
  }

  std::mt19937 random_;
  State now_;
  std::uint64_t next_ = 0x1000000;
};

Sums sums_of(const MemoryState& state) {
  return {state.requested, state.active, state.allocated, state.reserved};
}

// Bytes and number of allocations at the peak, and at the end.
using PlaceRow = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

}  // namespace

TEST_CASE("replay: is that of an allocator that runs forward, for random histories") {
  Snapshot snapshot;
  for (std::uint32_t i = 0; i <= kPlaces; ++i)
    snapshot.stacks.push_back(
        {snapshot.places.intern(fmt::format("place{}", i)), MemoryCategory::other});
  for (std::uint32_t seed = 0; seed < tries(400); ++seed) {
    CAPTURE(seed);
    Allocator twin(seed);
    const std::size_t all = twin.entries.size();
    const std::size_t first = twin.pick(0, 2) == 0 ? twin.pick(0, all - 1) : 0;
    const State& end = twin.states.back();
    DeviceSnapshot device;
    device.entries.assign(twin.entries.begin() + static_cast<std::ptrdiff_t>(first),
                          twin.entries.end());
    const std::int64_t step_ns = static_cast<std::int64_t>(twin.pick(50, 2000));
    const auto step_of = [&](std::size_t entry) {
      return (twin.entries[entry].at_ns - twin.entries[first].at_ns) / step_ns;
    };
    for (std::int64_t i = 0; i <= step_of(all - 1); ++i)
      device.marks.push_back(
          {twin.entries[first].at_ns + i * step_ns, true, fmt::format("ProfilerStep#{}", i)});
    std::int64_t largest = 0;
    std::int64_t inactive = 0;
    std::int64_t reclaimable = 0;
    for (const auto& [address, bytes] : end.segments) {
      MemorySegment& segment = device.segments.emplace_back();
      segment.address = address;
      segment.bytes = bytes;
      segment.is_small = bytes == kSmall;
      end.for_each_free(address, [&](std::uint64_t from, std::int64_t free) {
        segment.blocks.push_back({.address = from, .bytes = free, .is_free = true});
        inactive += free;
        largest = std::max(largest, free);
        if (free == bytes) reclaimable += bytes;
      });
      for (const auto& [at, block] : end.blocks)
        if (at >= address && at < address + static_cast<std::uint64_t>(bytes))
          segment.blocks.push_back(
              {at, block.bytes, block.requested, block.stack, false, block.waits});
      std::ranges::sort(segment.blocks, {}, &MemoryBlock::address);
    }

    const State start = first == 0 ? State() : twin.states[first - 1];
    Sums peak = start.sums();
    const State* at_peak = &start;
    std::optional<std::int64_t> peak_at_ns;
    for (std::size_t i = first; i < all; ++i) {
      const Sums now = twin.states[i].sums();
      if (now.requested > peak.requested) {
        at_peak = &twin.states[i];
        peak_at_ns = twin.entries[i].at_ns;
      }
      peak = {std::max(peak.requested, now.requested), std::max(peak.active, now.active),
              std::max(peak.allocated, now.allocated), std::max(peak.reserved, now.reserved)};
    }
    std::map<std::string, PlaceRow> places;
    const auto place_of = [&](std::uint64_t address, const Block& block) {
      const auto last = end.blocks.find(address);
      const bool is_there = last != end.blocks.end() && last->second.born == block.born;
      return block.born < first && !is_there ? std::string(kBeforePlace)
                                             : fmt::format("place{}", block.stack);
    };
    for (const auto& [address, block] : at_peak->blocks) {
      std::get<0>(places[place_of(address, block)]) += block.requested;
      ++std::get<1>(places[place_of(address, block)]);
    }
    // Steps are those of the marks, or begin at dumps if memory was allocated in too few of them.
    const auto dump_of = [&](std::size_t entry) {
      std::int64_t before = 0;
      for (std::size_t i = first; i <= entry; ++i)
        before += twin.entries[i].action == MemoryAction::snapshot ? 1 : 0;
      return before;
    };
    const auto count_steps = [&](const auto& step) {
      std::set<std::int64_t> steps;
      for (std::size_t i = first; i < all; ++i)
        if (twin.entries[i].action == MemoryAction::alloc) steps.insert(step(i));
      return static_cast<std::int64_t>(steps.size());
    };
    const bool has_marks = count_steps(step_of) >= kLeakSteps;
    std::map<std::string, std::pair<std::int64_t, std::set<std::int64_t>>> kept;
    std::int64_t rounding = 0;
    for (const auto& [address, block] : end.blocks) {
      const std::string place = place_of(address, block);
      std::get<2>(places[place]) += block.requested;
      ++std::get<3>(places[place]);
      rounding += block.bytes - block.requested;
      if (block.born < first) continue;
      kept[place].first += block.requested;
      kept[place].second.insert(has_marks ? step_of(block.born) : dump_of(block.born));
    }

    const MemoryAnswer answer = replay(snapshot, device);
    CHECK(answer.contradictions == 0);
    CHECK(answer.checks == answer.checks_that_fit);
    CHECK(answer.is_complete == (start.segments.empty() && start.blocks.empty()));
    CHECK(sums_of(answer.peak) == peak);
    CHECK(answer.peak_at_ns == peak_at_ns);
    CHECK(sums_of(answer.end) == end.sums());
    CHECK(answer.inactive == inactive);
    CHECK(answer.largest_free == largest);
    CHECK(answer.rounding == rounding);
    CHECK(answer.reclaimable == reclaimable);
    std::map<std::string, PlaceRow> found;
    for (const PlaceMemory& one : answer.places)
      found[one.place] = {one.at_peak, one.at_peak_count, one.at_end, one.at_end_count};
    CHECK(found == places);
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> leaks;
    for (const auto& [place, all_kept] : kept)
      if (const auto steps = static_cast<std::int64_t>(all_kept.second.size()); steps >= kLeakSteps)
        leaks[place] = {all_kept.first / steps, steps};
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> found_leaks;
    for (const MemoryLeak& leak : answer.leaks)
      found_leaks[leak.place] = {leak.bytes_per_step, leak.steps};
    CHECK(found_leaks == leaks);
    std::vector<OomRow> ooms;
    for (const auto& [entry, row] : twin.ooms)
      if (entry >= first) ooms.push_back(row);
    CHECK(answer.ooms == ooms.size());
    if (ooms.size() > kMostOutOfMemory) ooms.erase(ooms.begin(), ooms.end() - kMostOutOfMemory);
    std::vector<OomRow> found_ooms;
    for (const OutOfMemory& oom : answer.out_of_memory)
      found_ooms.emplace_back(oom.requested, oom.reserved, oom.inactive, oom.largest_free,
                              oom.is_fragmented);
    CHECK(found_ooms == ooms);
    Sums highest;
    for (const HistoryPoint& point : answer.curve)
      highest = {std::max(highest.requested, point.requested), 0,
                 std::max(highest.allocated, point.allocated),
                 std::max(highest.reserved, point.reserved)};
    Sums of_entries;
    for (std::size_t i = first; i < all; ++i) {
      const Sums now = twin.states[i].sums();
      of_entries = {std::max(of_entries.requested, now.requested), 0,
                    std::max(of_entries.allocated, now.allocated),
                    std::max(of_entries.reserved, now.reserved)};
    }
    CHECK(highest == of_entries);
    CHECK(answer.curve.back().at_ns == twin.entries.back().at_ns);
    CHECK(answer.curve.back().allocated == end.sums().allocated);
  }
}
