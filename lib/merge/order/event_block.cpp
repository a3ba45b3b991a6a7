#include "merge/order/event_block.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace traceloom {
namespace {

// A place in a list of blocks where an event stands.
struct Slot {
  std::size_t block;
  std::size_t event;
};

// Identifies events that are sorted together: slices of one track and start, or all samples of a
// counter.
using OrderKey = std::tuple<bool, std::uint32_t, std::int64_t>;

// True for slices that can enclose each other, and for ends that must stay between them. A slice
// without length may stand before a slice that starts with it as well as inside it, so it stays
// where the file has it, and its ends before it.
bool is_slice(const PlacedEvent& event) {
  return (event.order == OrderClass::slice || event.order == OrderClass::next_end) &&
         event.duration_ns != 0;
}

// True for events that are sorted by time alone.
bool is_by_time(const PlacedEvent& event) {
  return event.order == OrderClass::counter;
}

OrderKey key_of(const PlacedEvent& event) {
  if (is_slice(event)) return {true, event.group, event.start_ns};
  return {false, event.group, 0};
}

bool is_before(const PlacedEvent& a, const PlacedEvent& b) {
  if (!is_slice(a)) return a.start_ns < b.start_ns;
  return a.duration_ns != b.duration_ns ? a.duration_ns > b.duration_ns : a.source_at < b.source_at;
}

// Returns a predicate that is true for the number of a slice in `block` which has the track and
// start of `event`.
auto starts_with(const PlacedEvent& event, const EventBlock& block) {
  return [&](std::uint32_t number) {
    return block.events[number].start_ns == event.start_ns &&
           block.events[number].group == event.group;
  };
}

// Returns the keys of a block's events that are out of order, and makes the block's index.
std::set<OrderKey> find_disorder(EventBlock& block) {
  std::set<OrderKey> keys;
  BlockIndex& index = block.index;
  index.reset(block.events.size());
  std::map<OrderKey, std::int64_t> latest;
  for (std::uint32_t i = 0; i < block.events.size(); ++i) {
    const PlacedEvent& event = block.events[i];
    if (is_slice(event)) {
      index.first_slice_ns = std::min(index.first_slice_ns, event.start_ns);
      index.last_slice_ns = std::max(index.last_slice_ns, event.start_ns);
      std::uint32_t& last = index.slices.at(event.group, event.start_ns, starts_with(event, block));
      if (last != SliceIndex::kNone && is_before(event, block.events[last]))
        keys.insert(key_of(event));
      // An unbound end stands after all slices; the last of these is compared with later blocks.
      if (last == SliceIndex::kNone || event.duration_ns != kUnbound) last = i;
    } else if (is_by_time(event)) {
      index.has_others = true;
      const auto [at, is_first] = latest.try_emplace(key_of(event), event.start_ns);
      if (event.start_ns < at->second) keys.insert(at->first);
      at->second = event.start_ns;
    }
  }
  return keys;
}

// Returns the first and last time of each key of the events that are sorted by time.
std::map<OrderKey, std::pair<std::int64_t, std::int64_t>> times_of(const EventBlock& block) {
  std::map<OrderKey, std::pair<std::int64_t, std::int64_t>> times;
  for (const PlacedEvent& event : block.events) {
    if (!is_by_time(event)) continue;
    const auto [at, is_first] = times.try_emplace(key_of(event), event.start_ns, event.start_ns);
    at->second.second = event.start_ns;
  }
  return times;
}

// Returns the number of the event that the index of the block has for a track and start.
std::uint32_t indexed(const PlacedEvent& event, const EventBlock& block) {
  return block.index.slices.number(event.group, event.start_ns, starts_with(event, block));
}

// Adds the keys whose events are in order in either block, but not in both together.
void find_disorder_between(const EventBlock& earlier, const EventBlock& later,
                           std::set<OrderKey>& keys) {
  const bool may_meet = later.index.first_slice_ns <= earlier.index.last_slice_ns &&
                        earlier.index.first_slice_ns <= later.index.last_slice_ns;
  for (const PlacedEvent& event : later.events) {
    if (!may_meet) break;
    if (!is_slice(event) || event.start_ns > earlier.index.last_slice_ns) continue;
    const std::uint32_t last = indexed(event, earlier);
    if (last != SliceIndex::kNone && is_before(event, earlier.events[last]))
      keys.insert(key_of(event));
  }
  if (!earlier.index.has_others || !later.index.has_others) return;
  const auto times = times_of(later);
  for (const auto& [key, first_and_last] : times_of(earlier)) {
    const auto same = times.find(key);
    if (same != times.end() && same->second.first < first_and_last.second) keys.insert(key);
  }
}

// Binds ends to slices of the last block. Adds the keys of those that other events may separate
// from their slice, and of those that must come after a slice of the last block: its E came late.
void find_disorder_of_ends(const std::vector<EventBlock*>& blocks, std::set<OrderKey>& keys) {
  const std::vector<EventBlock*> earlier(blocks.begin(), blocks.end() - 1);
  for (const PlacedEvent* const end : bind_next_ends(earlier, {blocks.back()}))
    for (const EventBlock* const block : earlier)
      if (const std::uint32_t other = indexed(*end, *block);
          is_slice(*end) && other != SliceIndex::kNone && &block->events[other] != end)
        keys.insert(key_of(*end));
  for (const EventBlock* const block : earlier)
    for (const std::uint32_t number : block->unbound)
      if (indexed(block->events[number], *blocks.back()) != SliceIndex::kNone)
        keys.insert(key_of(block->events[number]));
}

// Returns a block whose events have exchanged places: `texts[i]` and `events[i]` stand where the
// i-th stood.
EventBlock rebuilt(const EventBlock& block, const std::vector<PlacedEvent>& events,
                   const std::vector<std::string_view>& texts) {
  EventBlock result;
  const std::string_view text = block.text;
  std::size_t at = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const PlacedEvent& old = block.events[i];
    result.text += text.substr(at, old.begin - at);
    result.place(events[i], [&] { result.text += texts[i]; });
    at = old.begin + old.size;
  }
  result.text += text.substr(at);
  return result;
}

// Sorts the events of these keys among the places that they have.
void reorder(const std::vector<EventBlock*>& blocks, const std::set<OrderKey>& keys) {
  std::map<OrderKey, std::vector<Slot>> slots;
  std::vector<std::vector<PlacedEvent>> events;
  std::vector<std::vector<std::string_view>> texts;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    events.push_back(blocks[b]->events);
    std::vector<std::string_view>& block_texts = texts.emplace_back();
    for (std::size_t i = 0; i < blocks[b]->events.size(); ++i) {
      const PlacedEvent& event = blocks[b]->events[i];
      block_texts.push_back(blocks[b]->text.view().substr(event.begin, event.size));
      if (!is_slice(event) && !is_by_time(event)) continue;
      if (const OrderKey key = key_of(event); keys.contains(key)) slots[key].push_back({b, i});
    }
  }
  for (const auto& [key, places] : slots) {
    std::vector<Slot> order = places;
    std::ranges::stable_sort(order, [&](const Slot& a, const Slot& b) {
      return is_before(blocks[a.block]->events[a.event], blocks[b.block]->events[b.event]);
    });
    for (std::size_t i = 0; i < places.size(); ++i) {
      const PlacedEvent& event = blocks[order[i].block]->events[order[i].event];
      events[places[i].block][places[i].event] = event;
      texts[places[i].block][places[i].event] =
          blocks[order[i].block]->text.view().substr(event.begin, event.size);
    }
  }
  std::vector<EventBlock> results;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    results.push_back(rebuilt(*blocks[b], events[b], texts[b]));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    *blocks[b] = std::move(results[b]);
    find_disorder(*blocks[b]);  // makes the index
  }
}

}  // namespace

std::vector<PlacedEvent*> bind_next_ends(const std::vector<EventBlock*>& earlier,
                                         const std::vector<EventBlock*>& later) {
  struct End {
    PlacedEvent* event;
    const PlacedEvent* slice = nullptr;  // of the slices at its time, the first after it

    void keep_first(const PlacedEvent* other) {
      if (slice == nullptr || other->source_at < slice->source_at) slice = other;
    }
    bool has_place_of(const PlacedEvent& other) const {
      return event->group == other.group && event->start_ns == other.start_ns;
    }
  };
  const auto place = [](const PlacedEvent& event) {
    return std::tie(event.group, event.start_ns, event.source_at);
  };
  std::vector<End> ends;
  for (EventBlock* const block : earlier)
    for (const std::uint32_t number : block->unbound) ends.push_back({&block->events[number]});
  if (ends.empty()) return {};
  const auto place_of_end = [&](const End& end) { return place(*end.event); };
  std::ranges::sort(ends, {}, place_of_end);
  // A slice is kept at the last end before it; the ends before that one may bind to it as well.
  for (const EventBlock* const block : later)
    for (const PlacedEvent& event : block->events) {
      if (event.order != OrderClass::slice) continue;
      const auto after = std::ranges::upper_bound(ends, place(event), {}, place_of_end);
      if (after != ends.begin() && after[-1].has_place_of(event)) after[-1].keep_first(&event);
    }
  std::vector<PlacedEvent*> bound;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    if (end != ends.rbegin() && end[-1].slice != nullptr && end->has_place_of(*end[-1].event))
      end->keep_first(end[-1].slice);
    if (end->slice == nullptr) continue;
    end->event->duration_ns = end->slice->duration_ns;
    bound.push_back(end->event);
  }
  for (EventBlock* const block : earlier)
    std::erase_if(block->unbound, [&](std::uint32_t number) {
      return block->events[number].duration_ns != kUnbound;
    });
  return bound;
}

void put_in_order(EventBlock& block) {
  bind_next_ends({&block}, {&block});
  if (const std::set<OrderKey> keys = find_disorder(block); !keys.empty()) reorder({&block}, keys);
}

bool put_in_order(const std::vector<EventBlock*>& blocks) {
  std::set<OrderKey> keys;
  find_disorder_of_ends(blocks, keys);
  for (std::size_t b = 0; b + 1 < blocks.size(); ++b)
    find_disorder_between(*blocks[b], *blocks.back(), keys);
  if (keys.empty()) return false;
  reorder(blocks, keys);
  return true;
}

}  // namespace traceloom
