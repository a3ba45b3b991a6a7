#include "memory/replay.h"

#include "base/arithmetic.h"
#include "base/ascii.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace traceloom {
namespace {

constexpr std::int32_t kBefore = -1;
constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kGrain = 512;                        // of an allocation
constexpr std::int64_t kSmallMost = std::int64_t{1} << 20;  // of a request for the small pool
constexpr std::int64_t kSmallSegment = std::int64_t{2} << 20;
constexpr std::ptrdiff_t kMostOpen = 64;  // annotations in each other that an end is looked for in
constexpr std::string_view kStepName = "ProfilerStep#";

std::int64_t rounded(std::int64_t bytes) {
  return std::max(kGrain, (bytes + kGrain - 1) / kGrain * kGrain);
}

// An allocation from its alloc to its free, as indexes of entries.
struct Lifetime : MemoryBlock {
  std::int32_t born = kBefore;
  std::int32_t died = kNever;
  std::uint32_t free_stack = kNoStack;
};

class Replay {
 public:
  Replay(const Snapshot& snapshot, const DeviceSnapshot& device, const StepAt& step_at)
      : snapshot_(snapshot), device_(device), entries_(device.entries), trace_(step_at) {
    answer_.device = device.device;
    answer_.entries = entries_.size();
  }

  MemoryAnswer run() {
    take_blocks();
    answer_.end = state_;
    answer_.peak = state_;
    answer_.peak.requested = -1;  // noted with its moment
    std::size_t frees = 0;
    for (const MemoryEntry& entry : entries_) {
      frees += entry.action == MemoryAction::free_completed ? 1 : 0;
      if (answer_.from_ns == kNoTime) answer_.from_ns = entry.at_ns;
      if (entry.at_ns != kNoTime) to_ns_ = std::max(to_ns_, entry.at_ns);
    }
    completes_ = frees > 0;
    lifetimes_.reserve(lifetimes_.size() + frees);
    // Indexes are 32 bits wide; a longer history begins later.
    const std::size_t first = entries_.size() - std::min<std::size_t>(entries_.size(), kNever - 1);
    for (std::size_t i = entries_.size(); i-- > first;) {
      note_peak(static_cast<std::int32_t>(i));
      undo(entries_[i], static_cast<std::int32_t>(i));
    }
    note_peak(kBefore);
    finish();
    return std::move(answer_);
  }

 private:
  // --- the end

  void take_blocks() {
    for (const MemorySegment& segment : device_.segments) {
      reserved_.emplace(segment.address, segment);
      add_to(state_.reserved, segment.bytes);
      if (segment.is_private) add_to(answer_.private_pools, segment.bytes);
      for (const MemoryBlock& block : segment.blocks)
        if (block.is_free)
          take_free(block);
        else
          take_live(block);
      const bool is_empty = std::ranges::all_of(segment.blocks, &MemoryBlock::is_free);
      if (is_empty && !segment.is_private && !segment.is_expandable)
        add_to(answer_.reclaimable, segment.bytes);
    }
  }
  void take_free(const MemoryBlock& block) {
    add_to(answer_.inactive, block.bytes);
    answer_.largest_free = std::max(answer_.largest_free, block.bytes);
  }
  void take_live(const MemoryBlock& block) {
    if (live(block.address) != nullptr) return contradict();
    add_live({block});
    add_to(answer_.rounding, block.bytes - block.requested);
  }

  void contradict() { ++answer_.contradictions; }
  Lifetime* live(std::uint64_t address) {
    const auto found = open_.find(address);
    return found == open_.end() ? nullptr : &lifetimes_[found->second];
  }
  void add_live(const Lifetime& one) {
    open_[one.address] = lifetimes_.size();
    lifetimes_.push_back(one);
    count(one, 1);
  }
  // The block goes, because entry `i` has allocated it.
  void take_away(Lifetime& one, std::int32_t i) {
    one.born = i;
    count(one, -1);
    open_.erase(one.address);
  }
  // Adds the block to the sums, or takes it away (-1).
  void count(const Lifetime& one, std::int64_t sign) {
    add_to(state_.requested, sign * one.requested);
    add_to(state_.active, sign * one.bytes);
    if (!one.waits) add_to(state_.allocated, sign * one.bytes);
  }

  // The state after entry `i`, of which the earliest of equal ones counts.
  void note_peak(std::int32_t i) {
    if (state_.requested >= answer_.peak.requested) {
      answer_.peak.requested = state_.requested;
      peak_ = i;
    }
    answer_.peak.active = std::max(answer_.peak.active, state_.active);
    answer_.peak.allocated = std::max(answer_.peak.allocated, state_.allocated);
    answer_.peak.reserved = std::max(answer_.peak.reserved, state_.reserved);
    if (i != kBefore) note_point(entries_[static_cast<std::size_t>(i)].at_ns);
  }
  // Entries come the last one first, so a part of the time has its last moment first.
  void note_point(std::int64_t at_ns) {
    if (at_ns < answer_.from_ns || at_ns == kNoTime) return;
    constexpr std::int64_t kParts = kMostPoints / 2;
    const Int128 of_all = Int128{at_ns} - answer_.from_ns;
    const auto part = static_cast<std::int64_t>(
        of_all * (kParts - 1) / std::max<Int128>(Int128{to_ns_} - answer_.from_ns, 1));
    std::vector<HistoryPoint>& curve = answer_.curve;
    const HistoryPoint now{at_ns, state_.requested, state_.allocated, state_.reserved};
    // Times that go back begin no parts without end.
    if (curve.empty() || (part != part_ && curve.size() + 2 <= kMostPoints))
      curve.resize(curve.size() + 2, now);
    part_ = part;
    HistoryPoint& most = curve.back();
    most = {std::min(most.at_ns, at_ns), std::max(most.requested, now.requested),
            std::max(most.allocated, now.allocated), std::max(most.reserved, now.reserved)};
  }

  // --- entries

  void undo(const MemoryEntry& entry, std::int32_t i) {
    using enum MemoryAction;
    const MemoryAction action = entry.action;
    if (action == alloc) return undo_alloc(entry, i);
    if (action == free_completed) return undo_free(entry, i);
    if (action == free_requested) return undo_request(entry, i);
    if (action == segment_alloc) return undo_segment_alloc(entry);
    if (action == segment_free) return undo_segment_free(entry);
    if (action == snapshot) return check(entry);
    if (action == oom) return note_oom(entry, i);
    if (action == unknown) ++answer_.unknown_actions;
  }

  void undo_alloc(const MemoryEntry& entry, std::int32_t i) {
    Lifetime* const one = live(entry.address);
    if (one == nullptr) return contradict();
    if (one->requested != entry.bytes) contradict();
    if (entry.stack != kNoStack) one->stack = entry.stack;
    if (one->free_stack != kNoStack) {
      ++pairs_;
      equal_pairs_ += one->free_stack == entry.stack ? 1 : 0;
    }
    take_away(*one, i);
  }

  void undo_free(const MemoryEntry& entry, std::int32_t i) {
    if (Lifetime* const other = live(entry.address)) {
      contradict();
      take_away(*other, i);
    }
    Lifetime one{{.address = entry.address, .bytes = rounded(entry.bytes), .waits = completes_}};
    one.requested = entry.bytes;
    one.died = i;
    one.free_stack = entry.stack;
    add_live(one);
  }

  // Where completed frees were not recorded, the request is the free.
  void undo_request(const MemoryEntry& entry, std::int32_t i) {
    Lifetime* const one = live(entry.address);
    const bool waits = one != nullptr && one->waits;
    if (!completes_ && !waits) return undo_free(entry, i);
    if (!waits) return contradict();
    one->waits = false;
    add_to(state_.allocated, one->bytes);
  }

  void check(const MemoryEntry& entry) {
    ++answer_.checks;
    // A block that was not split has up to 1 MiB more than its request.
    const std::int64_t more = saturating_subtract(entry.bytes, state_.active);
    if (more >= 0 && more <= static_cast<std::int64_t>(open_.size()) * kSmallMost)
      ++answer_.checks_that_fit;
  }

  // --- segments

  void undo_segment_free(const MemoryEntry& entry) {
    add_to(state_.reserved, entry.bytes);
    reserved_.emplace(entry.address, MemoryPiece{.bytes = entry.bytes,
                                                 .is_small = entry.bytes == kSmallSegment,
                                                 .is_expandable = entry.is_mapping});
  }

  // Takes a range out of the segment that holds it. If that is expandable, the range may go on in
  // the next piece: what was mapped at once may have been unmapped apart.
  void undo_segment_alloc(const MemoryEntry& entry) {
    add_to(state_.reserved, -entry.bytes);
    std::uint64_t address = entry.address;
    auto left = static_cast<std::uint64_t>(entry.bytes);
    do {
      auto holder = reserved_.upper_bound(address);
      if (holder == reserved_.begin()) return contradict();
      const auto [from, whole] = *--holder;
      const std::uint64_t end = from + static_cast<std::uint64_t>(whole.bytes);
      const bool goes_on = address != entry.address || left > end - address;
      if (address >= end || (goes_on && !whole.is_expandable)) return contradict();
      reserved_.erase(holder);
      if (address > from) put(from, address, whole);
      const std::uint64_t taken = std::min(left, end - address);
      address += taken;
      left -= taken;
      if (address < end) put(address, end, whole);
    } while (left > 0);
  }
  void put(std::uint64_t from, std::uint64_t end, MemoryPiece piece) {
    piece.bytes = static_cast<std::int64_t>(end - from);
    reserved_.emplace(from, piece);
  }

  // --- out of memory

  // The free bytes of the pool for small or for large requests, and their largest piece.
  struct Free {
    std::int64_t all = 0;
    std::int64_t largest = 0;
  };

  void note_oom(const MemoryEntry& entry, std::int32_t i) {
    if (++answer_.ooms > kMostOutOfMemory) return;
    OutOfMemory oom;
    oom.requested = entry.bytes;
    oom.device_free = to_signed(entry.address);
    oom.reserved = state_.reserved;
    const bool is_small = entry.bytes <= kSmallMost;
    const Free same = find_free(is_small);
    oom.inactive = saturating_add(same.all, find_free(!is_small).all);
    oom.largest_free = same.largest;
    oom.is_fragmented = same.all >= entry.bytes && same.largest < entry.bytes;
    oom.at_ns = entry.at_ns;
    oom.place = holder({{.stack = entry.stack}, i}).first;  // the block would have had this place
    answer_.out_of_memory.push_back(std::move(oom));
  }

  Free find_free(bool is_small) const {
    std::map<std::uint64_t, std::int64_t> blocks;
    for (const auto& [address, number] : open_) blocks.emplace(address, lifetimes_[number].bytes);
    Free free;
    std::uint64_t end = 0;        // of the last segment
    std::uint64_t free_from = 0;  // the piece before `end` that is free
    bool was_expandable = false;
    for (const auto& [from, piece] : reserved_) {
      if (piece.is_private || piece.is_small != is_small) continue;
      const bool goes_on = was_expandable && piece.is_expandable && from == end;
      if (!goes_on) free_from = from;
      was_expandable = piece.is_expandable;
      end = from + static_cast<std::uint64_t>(piece.bytes);
      const auto add_until = [&](std::uint64_t at) {
        if (at <= free_from) return;
        add_to(free.all, to_signed(at - std::max(free_from, from)));
        free.largest = std::max(free.largest, to_signed(at - free_from));
      };
      for (auto block = blocks.lower_bound(from); block != blocks.end() && block->first < end;
           ++block) {
        add_until(block->first);
        free_from = std::max(free_from, block->first + static_cast<std::uint64_t>(block->second));
      }
      add_until(end);
    }
    return free;
  }
  static std::int64_t to_signed(std::uint64_t bytes) {
    return static_cast<std::int64_t>(std::min(bytes, static_cast<std::uint64_t>(INT64_MAX)));
  }

  // --- the answer

  // Returns the place and category to which an allocation belongs.
  std::pair<std::string_view, MemoryCategory> holder(const Lifetime& one) const {
    const auto known = [&](std::uint32_t stack) {
      const MemoryStack& found = snapshot_.stacks[stack];
      return std::pair{snapshot_.places[found.place], found.category};
    };
    const bool frees_tell = pairs_ > 0 && equal_pairs_ == pairs_;
    if (one.stack != kNoStack) return known(one.stack);
    if (one.born != kBefore) return {kNoPythonPlace, MemoryCategory::other};
    if (one.died != kNever && frees_tell && one.free_stack != kNoStack)
      return known(one.free_stack);
    return {entries_.empty() ? kNotRecordedPlace : kBeforePlace, MemoryCategory::unknown};
  }

  void finish() {
    std::ranges::reverse(answer_.curve);
    std::ranges::stable_sort(answer_.curve, {}, &HistoryPoint::at_ns);
    const auto same = std::ranges::unique(answer_.curve);
    answer_.curve.erase(same.begin(), same.end());
    std::reverse(answer_.out_of_memory.begin(), answer_.out_of_memory.end());
    answer_.is_complete =
        !entries_.empty() && open_.empty() && state_.reserved == 0 && answer_.contradictions == 0;
    if (peak_ >= 0 && entries_[static_cast<std::size_t>(peak_)].at_ns != kNoTime)
      answer_.peak_at_ns = entries_[static_cast<std::size_t>(peak_)].at_ns;
    find_steps();
    if (answer_.peak_at_ns) find_moment(*answer_.peak_at_ns);
    find_places();
    find_leaks();
  }

  void find_places() {
    std::map<std::pair<std::string_view, MemoryCategory>, PlaceMemory> places;
    for (const Lifetime& one : lifetimes_) {
      answer_.frees_without_alloc += one.born == kBefore && one.died != kNever ? 1 : 0;
      const bool at_peak = one.born <= peak_ && one.died > peak_;
      if (!at_peak && one.died != kNever) continue;
      PlaceMemory& sum = places[holder(one)];
      if (at_peak) {
        add_to(sum.at_peak, one.requested);
        ++sum.at_peak_count;
      }
      if (one.died == kNever) {
        add_to(sum.at_end, one.requested);
        ++sum.at_end_count;
      }
    }
    for (auto& [key, memory] : places) {
      memory.place = key.first;
      memory.category = key.second;
      answer_.places.push_back(std::move(memory));
    }
    std::ranges::stable_sort(answer_.places, [](const PlaceMemory& a, const PlaceMemory& b) {
      return std::pair{a.at_peak, a.at_end} > std::pair{b.at_peak, b.at_end};
    });
  }

  // --- steps

  enum class StepSource : std::uint8_t { marks, trace, dumps };

  void find_steps() {
    for (const MemoryMark& mark : device_.marks)
      if (mark.begins && mark.name.starts_with(kStepName))
        if (const auto number =
                whole_number<std::int64_t>(std::string_view(mark.name).substr(kStepName.size())))
          marks_.emplace(mark.at_ns, *number);
    for (const MemoryEntry& entry : entries_)
      if (entry.action == MemoryAction::snapshot && entry.at_ns != kNoTime)
        dumps_.emplace(entry.at_ns, 0);
    if (!dumps_.empty()) dumps_.emplace(kNoTime, 0);  // the time before the first is a step, too
  }

  std::optional<TraceStep> step_at(StepSource source, std::int64_t at_ns) const {
    if (source == StepSource::trace) return trace_ ? trace_(at_ns) : std::nullopt;
    const auto& begins = source == StepSource::marks ? marks_ : dumps_;
    const auto next = begins.upper_bound(at_ns);
    if (next == begins.begin()) return std::nullopt;
    return TraceStep{std::prev(next)->second, std::prev(next)->first};
  }

  bool has_steps(StepSource source) const {
    std::set<std::int64_t> begins;
    for (const MemoryEntry& entry : entries_) {
      if (entry.action != MemoryAction::alloc || entry.at_ns == kNoTime) continue;
      if (const auto step = step_at(source, entry.at_ns)) begins.insert(step->begin_ns);
      if (begins.size() >= kLeakSteps) return true;
    }
    return false;
  }

  void find_moment(std::int64_t at_ns) {
    for (const StepSource source : {StepSource::trace, StepSource::marks})
      if (const auto step = step_at(source, at_ns)) answer_.peak_step = step->number;
    std::vector<std::string_view> open;
    for (const MemoryMark& mark : device_.marks) {
      if (mark.at_ns > at_ns) continue;
      const auto last = open.rbegin() + std::min(std::ssize(open), kMostOpen);
      if (mark.begins) {
        open.emplace_back(mark.name);
      } else if (const auto found = std::find(open.rbegin(), last, mark.name); found != last) {
        open.erase(std::next(found).base());
      }
    }
    if (!open.empty()) answer_.peak_in = open.back();
  }

  void find_leaks() {
    constexpr StepSource kSources[] = {StepSource::marks, StepSource::trace, StepSource::dumps};
    const auto source =
        std::ranges::find_if(kSources, [&](StepSource one) { return has_steps(one); });
    if (source == std::end(kSources)) return;
    struct Kept {
      std::int64_t bytes = 0;
      std::set<std::int64_t> steps;
    };
    std::map<std::string_view, Kept> kept;
    for (const Lifetime& one : lifetimes_) {
      if (one.died != kNever || one.born == kBefore) continue;
      const std::int64_t at_ns = entries_[static_cast<std::size_t>(one.born)].at_ns;
      const auto step = at_ns == kNoTime ? std::nullopt : step_at(*source, at_ns);
      if (!step) continue;
      Kept& place = kept[holder(one).first];
      add_to(place.bytes, one.requested);
      place.steps.insert(step->begin_ns);
    }
    for (const auto& [place, all] : kept) {
      const auto steps = static_cast<std::int64_t>(all.steps.size());
      if (steps >= kLeakSteps)
        answer_.leaks.push_back({std::string(place), all.bytes / steps, steps});
    }
    std::ranges::stable_sort(answer_.leaks, std::greater(), &MemoryLeak::bytes_per_step);
  }

  const Snapshot& snapshot_;
  const DeviceSnapshot& device_;
  const std::vector<MemoryEntry>& entries_;
  const StepAt& trace_;
  MemoryAnswer answer_;

  MemoryState state_;
  std::vector<Lifetime> lifetimes_;
  std::unordered_map<std::uint64_t, std::size_t> open_;  // by address
  std::map<std::uint64_t, MemoryPiece> reserved_;        // by address
  std::map<std::int64_t, std::int64_t> marks_;           // begins of steps, and their numbers
  std::map<std::int64_t, std::int64_t> dumps_;           // likewise, without numbers
  bool completes_ = false;                               // the history has completed frees
  std::int64_t to_ns_ = kNoTime;                         // the last time of an entry
  std::int64_t part_ = -1;  // of the time of all, which the last point stands for
  std::int32_t peak_ = kBefore;
  std::uint64_t pairs_ = 0;        // allocations whose alloc and free have stacks
  std::uint64_t equal_pairs_ = 0;  // and the same one
};

}  // namespace

MemoryAnswer replay(const Snapshot& snapshot, const DeviceSnapshot& device, const StepAt& step_at) {
  return Replay(snapshot, device, step_at).run();
}

}  // namespace traceloom
