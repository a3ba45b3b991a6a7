#include "merge/slices/slice_joiner.h"

#include "base/json_string.h"
#include "base/json_walk.h"

#include <fmt/format.h>

#include <utility>

namespace traceloom {
namespace {

using Members = std::vector<std::pair<std::string, std::string_view>>;

// Returns the members with decoded keys.
Members members_of(std::string_view args) {
  Members members;
  for_each_member(args, [&](std::string_view key, std::string_view value) {
    members.emplace_back(decode_json_string(key), value);
  });
  return members;
}

// Returns the args of both halves. If both have a member, the value of the end counts, as in
// viewers.
std::string merged_args(std::string_view begin, std::string_view end) {
  Members members = members_of(begin);
  const Members of_end = members_of(end);
  if (of_end.empty()) return std::string(begin);
  for (const auto& [key, value] : of_end) {
    const auto same = std::ranges::find_if(
        members, [&, &key = key](const auto& member) { return member.first == key; });
    if (same != members.end())
      same->second = value;
    else
      members.emplace_back(key, value);
  }
  std::string text = "{";
  for (const auto& [key, value] : members) {
    if (text.size() > 1) text += ", ";
    append_json_string(text, key);
    text.append(": ").append(value);
  }
  return text + "}";
}

// Returns the text of the joined event. `end` is empty for a slice that is never closed.
std::string joined(const SliceHalf& begin, const SliceHalf& end, std::int64_t duration_ns) {
  std::string duration = begin.has_duration_key ? "" : ", \"dur\": ";
  append_microseconds(duration, duration_ns);
  if (begin.thread_ns && end.thread_ns && *begin.thread_ns <= *end.thread_ns) {
    duration += ", \"tdur\": ";
    append_microseconds(duration, *end.thread_ns - *begin.thread_ns);
  }
  if (!end.frame.empty()) duration += ", \"esf\": " + end.frame;
  std::string text = begin.text;
  const std::string_view args(begin.text.data() + begin.args_begin,
                              begin.args_end - begin.args_begin);
  if (!end.text.empty() && end.text != args) {
    if (args.empty())
      text.insert(text.size() - 1, ", \"args\": " + end.text);
    else
      text.replace(begin.args_begin, args.size(), merged_args(args, end.text));
  }
  // Places before the args have not moved.
  const std::size_t at = begin.duration_at;
  const std::size_t moved =
      at >= begin.args_end && !args.empty() ? text.size() - begin.text.size() : 0;
  text.insert(at + moved, duration);
  return text;
}

}  // namespace

SliceJoiner::SliceJoiner(std::int64_t least_ns, std::size_t max_bytes)
    : max_bytes_(max_bytes),
      least_ns_(least_ns),
      pairer_({.pair = [this](const BeginEndPair& pair) { join(pair); },
               .stray_end = [this](std::uint32_t payload) { release(payload); },
               .open_begin = [this](const OpenBegin& begin) { close_open(begin); }}) {}

void SliceJoiner::take(const SliceHalves& halves) {
  payloads_.clear();
  for (const SliceHalf& half : halves.halves) payloads_.push_back(keep(half));
  pairer_.take(halves.batch, payloads_);
  endless_.insert(endless_.end(), halves.endless.begin(), halves.endless.end());
  last_starts_.add(halves.last_starts);
  while (bytes_ > max_bytes_ && pairer_.waiting() > 0) pairer_.give_up_half();
}

void SliceJoiner::finish(const LastEnds& last_ends) {
  last_ends_ = last_ends;
  is_finishing_ = true;  // no more halves come that could use the memory of another one
  pairer_.finish();
  end_endless();
}

void SliceJoiner::end_endless() {
  for (const EndlessSlice& slice : endless_) {
    const std::uint32_t track = slice.half.track;
    const bool never_ended = slice.slice_end == SliceEnd::never;
    const std::int64_t end_ns = never_ended ? last_ends_.of(slice.half.rank, slice.start_ns)
                                            : last_starts_.of(track, slice.start_ns);
    const std::int64_t duration_ns = end_ns - slice.start_ns;
    if (duration_ns < least_ns_) continue;
    std::string event = joined(slice.half, {}, duration_ns);
    event.insert(event.size() - 1,
                 fmt::format(", \"unclosed\": {}", never_ended ? kNeverEnded : kNoDuration));
    write({std::move(event), slice.start_ns, duration_ns, slice.offset, track});
  }
  endless_.clear();
  last_starts_.clear();
}

std::uint32_t SliceJoiner::keep(const SliceHalf& half) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot].half = half;
  bytes_ += bytes_of(slots_[slot].half);
  return slot;
}

void SliceJoiner::release(std::uint32_t slot) {
  std::string& text = slots_[slot].half.text;
  bytes_ -= bytes_of(slots_[slot].half);
  if (text.capacity() > kKeptTextBytes || is_finishing_) std::string().swap(text);
  free_.push_back(slot);
}

void SliceJoiner::join(const BeginEndPair& pair) {
  const SliceHalf& begin = slots_[pair.begin_payload].half;
  const SliceHalf& end = slots_[pair.end_payload].half;
  const std::int64_t duration_ns = pair.duration_ns();
  if (end.is_superseded || is_dropped(pair.begin_payload, duration_ns)) {
    leave(pair.begin_payload, pair.same_start_outer);
  } else {
    std::string event = joined(begin, end, duration_ns);
    if (pair.is_cut)
      event.insert(event.size() - 1,
                   fmt::format(", \"unclosed\": {}, \"cut_id\": {}", kCutSlice, end.cut_id));
    emit(pair.begin_payload,
         {std::move(event), pair.start_ns, duration_ns, pair.begin_offset, begin.track},
         pair.same_start_outer);
  }
  release(pair.end_payload);
}

void SliceJoiner::close_open(const OpenBegin& begin) {
  const SliceHalf& half = slots_[begin.payload].half;
  const std::int64_t end_ns =
      begin.is_in_closed_slice() ? begin.around_end_ns : last_ends_.of(half.rank, begin.start_ns);
  const std::int64_t duration_ns = saturating_subtract(end_ns, begin.start_ns);
  if (is_dropped(begin.payload, duration_ns)) return leave(begin.payload, kNoPayload);
  std::string event = joined(half, {}, duration_ns);
  event.insert(event.size() - 1, ", \"unclosed\": true");
  emit(begin.payload, {std::move(event), begin.start_ns, duration_ns, begin.offset, half.track},
       kNoPayload);
}

bool SliceJoiner::is_dropped(std::uint32_t begin, std::int64_t duration_ns) const {
  return !slots_[begin].half.wanted || duration_ns < least_ns_;
}

// Frees the slot of a begin. The slices inside it stay: they go to the event around it, or to the
// output.
void SliceJoiner::leave(std::uint32_t begin, std::uint32_t outer) {
  if (outer == kNoPayload)
    write_inner(begin);
  else
    slots_[outer].inner.splice(slots_[outer].inner.end(), slots_[begin].inner);
  release(begin);
}

// Writes a slice, or keeps it with the event around it if that begins at the same time and is not
// written yet. If kept slices take too much room, it is written at once, and their order is left to
// the viewers.
void SliceJoiner::emit(std::uint32_t begin, Joined slice, std::uint32_t outer) {
  if (inner_bytes_ > max_bytes_) outer = kNoPayload;
  if (outer == kNoPayload) {
    write(slice);
  } else {
    inner_bytes_ += bytes_of(slice);
    slots_[begin].inner.push_front(std::move(slice));
  }
  leave(begin, outer);
}

void SliceJoiner::write_inner(std::uint32_t slot) {
  for (const Joined& slice : slots_[slot].inner) {
    inner_bytes_ -= bytes_of(slice);
    write(slice);
  }
  slots_[slot].inner.clear();
}

void SliceJoiner::write(const Joined& slice) {
  const PlacedEvent place{.start_ns = slice.start_ns,
                          .duration_ns = slice.duration_ns,
                          .source_at = slice.begin_offset,
                          .group = slice.track,
                          .order = OrderClass::slice};
  out_.place(place, [&] {
    out_.text += ",\n";
    out_.text += slice.event;
  });
}

}  // namespace traceloom
