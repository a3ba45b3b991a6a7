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
constexpr std::size_t kMostOpen = 64;  // annotations in each other that an end is looked for in
constexpr std::string_view kStepName = "ProfilerStep#";

std::int64_t rounded(std::int64_t bytes) {
  return std::max(kGrain, (bytes + kGrain - 1) / kGrain * kGrain);
}

// An allocation from its alloc to its free, as indexes of entries.
struct Lifetime {
  std::uint64_t address = 0;
  std::int64_t requested = 0;
  std::int64_t bytes = 0;
  std::int32_t born = kBefore;
  std::int32_t died = kNever;
  std::uint32_t stack = kNoStack;
  std::uint32_t free_stack = kNoStack;
  bool waits = false;
};

// A piece of memory of segments.
struct Reserved {
  std::int64_t bytes = 0;
  bool is_small = false;
  bool is_private = false;
  bool is_expandable = false;
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
    take_state_at_end();
    std::size_t frees = 0;
    for (const MemoryEntry& entry : entries_) {
      frees += entry.action == MemoryAction::free_completed ? 1 : 0;
      completes_ |= entry.action == MemoryAction::free_completed;
      if (answer_.from_ns == kNoTime) answer_.from_ns = entry.at_ns;
      if (entry.at_ns != kNoTime) to_ns_ = std::max(to_ns_, entry.at_ns);
    }
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
      Reserved piece{segment.bytes, segment.is_small, segment.is_private, segment.is_expandable};
      reserved_.emplace(segment.address, piece);
      add_to(state_.reserved, segment.bytes);
      if (segment.is_private) add_to(answer_.private_pools, segment.bytes);
      bool is_empty = true;
      for (const MemoryBlock& block : segment.blocks) {
        is_empty = is_empty && block.is_free;
        if (block.is_free)
          take_free(block);
        else
          take_live(block);
      }
      if (is_empty && !segment.is_private && !segment.is_expandable)
        add_to(answer_.reclaimable, segment.bytes);
    }
    answer_.segments = device_.segments.size();
  }
  void take_free(const MemoryBlock& block) {
    add_to(answer_.inactive, block.bytes);
    answer_.largest_free = std::max(answer_.largest_free, block.bytes);
  }
  void take_live(const MemoryBlock& block) {
    const auto [at, is_new] = open_.emplace(block.address, lifetimes_.size());
    if (!is_new) {
      ++answer_.contradictions;
      return;
    }
    lifetimes_.push_back({.address = block.address,
                          .requested = block.requested,
                          .bytes = block.bytes,
                          .stack = block.stack,
                          .waits = block.waits});
    count(lifetimes_.back(), 1);
    add_to(answer_.rounding, block.bytes - block.requested);
  }
  void take_state_at_end() {
    answer_.end = state_;
    answer_.peak = state_;
    answer_.peak.requested = -1;  // noted with its moment
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
    switch (entry.action) {
      case MemoryAction::alloc:
        return undo_alloc(entry, i);
      case MemoryAction::free_completed:
        return undo_free(entry, i);
      case MemoryAction::free_requested:
        return undo_request(entry, i);
      case MemoryAction::segment_alloc:
        return undo_segment_alloc(entry);
      case MemoryAction::segment_free:
        return undo_segment_free(entry);
      case MemoryAction::snapshot:
        return check(entry);
      case MemoryAction::oom:
        return note_oom(entry);
      case MemoryAction::remark:
        return;
      case MemoryAction::unknown:
        ++answer_.unknown_actions;
        return;
    }
  }

  Lifetime* live(std::uint64_t address) {
    const auto found = open_.find(address);
    return found == open_.end() ? nullptr : &lifetimes_[found->second];
  }

  void undo_alloc(const MemoryEntry& entry, std::int32_t i) {
    Lifetime* const one = live(entry.address);
    if (one == nullptr) {
      ++answer_.contradictions;
      return;
    }
    if (one->requested != entry.bytes) ++answer_.contradictions;
    one->born = i;
    if (entry.stack != kNoStack) one->stack = entry.stack;
    if (one->free_stack != kNoStack) {
      ++pairs_;
      equal_pairs_ += one->free_stack == entry.stack ? 1 : 0;
    }
    count(*one, -1);
    open_.erase(entry.address);
  }

  void undo_free(const MemoryEntry& entry, std::int32_t i) {
    if (Lifetime* const other = live(entry.address)) {
      ++answer_.contradictions;
      other->born = i;
      count(*other, -1);
      open_.erase(entry.address);
    }
    open_[entry.address] = lifetimes_.size();
    lifetimes_.push_back({.address = entry.address,
                          .requested = entry.bytes,
                          .bytes = rounded(entry.bytes),
                          .died = i,
                          .free_stack = entry.stack,
                          .waits = completes_});
    count(lifetimes_.back(), 1);
  }

  // Where completed frees were not recorded, the request is the free.
  void undo_request(const MemoryEntry& entry, std::int32_t i) {
    Lifetime* const one = live(entry.address);
    const bool waits = one != nullptr && one->waits;
    if (!completes_ && !waits) return undo_free(entry, i);
    if (!waits) {
      ++answer_.contradictions;
      return;
    }
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
    reserved_.emplace(entry.address, Reserved{.bytes = entry.bytes,
                                              .is_small = entry.bytes == kSmallSegment,
                                              .is_expandable = entry.is_mapping});
  }

  // Takes a range out of the segment that holds it.
  void undo_segment_alloc(const MemoryEntry& entry) {
    add_to(state_.reserved, -entry.bytes);
    auto holder = reserved_.upper_bound(entry.address);
    if (holder == reserved_.begin()) {
      ++answer_.contradictions;
      return;
    }
    --holder;
    const auto [from, whole] = *holder;
    const std::uint64_t before = entry.address - from;
    const auto bytes = static_cast<std::uint64_t>(whole.bytes);
    const auto taken = static_cast<std::uint64_t>(entry.bytes);
    // Ranges that were unmapped apart may have been mapped at once.
    if (before >= bytes || (taken > bytes - before && !whole.is_expandable)) {
      ++answer_.contradictions;
      return;
    }
    reserved_.erase(holder);
    if (before > 0) put(from, before, whole);
    if (taken < bytes - before) put(entry.address + taken, bytes - before - taken, whole);
    if (taken > bytes - before)
      take_mapped(entry.address + (bytes - before), taken - (bytes - before));
  }
  void put(std::uint64_t address, std::uint64_t bytes, Reserved piece) {
    piece.bytes = static_cast<std::int64_t>(bytes);
    reserved_.emplace(address, piece);
  }
  void take_mapped(std::uint64_t address, std::uint64_t bytes) {
    while (bytes > 0) {
      const auto next = reserved_.find(address);
      if (next == reserved_.end() || !next->second.is_expandable) {
        ++answer_.contradictions;
        return;
      }
      const Reserved piece = next->second;
      const std::uint64_t taken = std::min(bytes, static_cast<std::uint64_t>(piece.bytes));
      reserved_.erase(next);
      if (taken < static_cast<std::uint64_t>(piece.bytes))
        put(address + taken, static_cast<std::uint64_t>(piece.bytes) - taken, piece);
      if (taken == 0) return;
      address += taken;
      bytes -= taken;
    }
  }

  // --- out of memory

  // The free bytes of the pool for small or for large requests, and their largest piece.
  struct Free {
    std::int64_t all = 0;
    std::int64_t largest = 0;
  };

  void note_oom(const MemoryEntry& entry) {
    if (++answer_.ooms > kMostOutOfMemory) return;
    OutOfMemory oom;
    oom.requested = entry.bytes;
    oom.device_free =
        static_cast<std::int64_t>(std::min(entry.address, static_cast<std::uint64_t>(INT64_MAX)));
    oom.reserved = state_.reserved;
    const bool is_small = entry.bytes <= kSmallMost;
    const Free same = find_free(is_small);
    oom.inactive = saturating_add(same.all, find_free(!is_small).all);
    oom.largest_free = same.largest;
    oom.is_fragmented = same.all >= entry.bytes && same.largest < entry.bytes;
    oom.at_ns = entry.at_ns;
    oom.place = entry.stack == kNoStack ? std::string(kNoPythonPlace) : place(entry.stack);
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
      for (auto block = blocks.lower_bound(from); block != blocks.end() && block->first < end;
           ++block) {
        if (block->first > std::max(free_from, from))
          add_to(free.all, to_signed(block->first - std::max(free_from, from)));
        if (block->first > free_from)
          free.largest = std::max(free.largest, to_signed(block->first - free_from));
        free_from = std::max(free_from, block->first + static_cast<std::uint64_t>(block->second));
      }
      if (end > std::max(free_from, from))
        add_to(free.all, to_signed(end - std::max(free_from, from)));
      if (end > free_from) free.largest = std::max(free.largest, to_signed(end - free_from));
    }
    return free;
  }
  static std::int64_t to_signed(std::uint64_t bytes) {
    return static_cast<std::int64_t>(std::min(bytes, static_cast<std::uint64_t>(INT64_MAX)));
  }

  // --- the answer

  std::string place(std::uint32_t stack) const {
    return std::string(snapshot_.places[snapshot_.stacks[stack].place]);
  }

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
  }

  // The time before the first dump is a step, too.
  std::optional<TraceStep> step_at(StepSource source, std::int64_t at_ns) const {
    if (source == StepSource::trace) return trace_ ? trace_(at_ns) : std::nullopt;
    const auto& begins = source == StepSource::marks ? marks_ : dumps_;
    const auto next = begins.upper_bound(at_ns);
    if (next != begins.begin()) return TraceStep{std::prev(next)->second, std::prev(next)->first};
    const bool is_first = source == StepSource::dumps && !begins.empty();
    return is_first ? std::optional(TraceStep{0, kNoTime}) : std::nullopt;
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
      const auto last =
          open.rend() - static_cast<std::ptrdiff_t>(open.size() - std::min(open.size(), kMostOpen));
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
  std::map<std::uint64_t, Reserved> reserved_;           // by address
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
