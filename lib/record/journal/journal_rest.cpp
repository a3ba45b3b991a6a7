#include "record/journal/journal_rest.h"

#include "base/json_string.h"
#include "record/buffers/clock_sync.h"
#include "record/files/event_feeder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

namespace traceloom::record {
namespace {

// The limits of a possible clock: speeds from 1 THz down to 1 kHz, times until the year 2116.
constexpr double kLeastNsPerTick = 1e-3;
constexpr double kMostNsPerTick = 1e6;
constexpr std::int64_t kLastNs = std::int64_t{1} << 62;

bool is_possible(std::int64_t ns) {
  return ns >= 0 && ns < kLastNs;
}

void check_speed(const std::string& path, const TimeLine::Segment& segment) {
  const bool is_speed = segment.ns_per_tick >= kLeastNsPerTick &&
                        segment.ns_per_tick <= kMostNsPerTick;  // false for what is no number
  if (!is_speed || !is_possible(segment.ns))
    throw Error(path, "is damaged: its clock cannot be; it stays as it is");
}

// Measures the speed for a process that was killed before it knew it: the counter still runs if the
// machine has not restarted.
TimeLine::Segment segment_until_now(const DeadJournal& journal) {
  const ClockPair& start = journal.layout().start;
  choose_clock(ClockChoice::tsc);
  const ClockPair now = read_clock_pair();
  if (boot_id() != journal.boot_id() || !detail::clock_is_tsc.load() || now.ticks <= start.ticks ||
      !is_possible(start.monotonic_ns))
    throw Error(journal.path(), "the speed of its clock is not known; it stays as it is");
  return {start.ticks, start.realtime_ns,
          static_cast<double>(now.monotonic_ns - start.monotonic_ns) /
              static_cast<double>(now.ticks - start.ticks)};
}

TimeLine line_of(const DeadJournal& journal) {
  const JournalLayout& layout = journal.layout();
  std::vector<TimeLine::Segment> segments;
  const std::uint64_t count = layout.segment_count.load();
  const std::uint64_t kept = std::min<std::uint64_t>(count, JournalLayout::kSegments);
  for (std::uint64_t i = count - kept; i < count; ++i)
    segments.push_back(layout.segments[i % JournalLayout::kSegments]);
  if (layout.is_tsc == 0)
    segments = {{layout.start.ticks, layout.start.realtime_ns, 1}};
  else if (segments.empty())
    segments = {segment_until_now(journal)};
  for (const TimeLine::Segment& segment : segments) check_speed(journal.path(), segment);
  std::sort(segments.begin(), segments.end(),
            [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  if (!is_possible(layout.start.realtime_ns))
    throw Error(journal.path(), "is damaged: its clock cannot be; it stays as it is");
  return {layout.start, std::move(segments)};
}

// True for a slot in the form that a thread leaves.
bool has_form(const detail::Slot& slot) {
  constexpr std::uint32_t kFirstValues = 2;
  constexpr std::uint32_t kValuesPerSlot = sizeof(detail::Slot) / sizeof(double);
  if (slot.kind == detail::Kind::none || slot.kind > detail::Kind::counter) return false;
  const std::uint32_t values = slot.value_count;
  if (slot.kind != detail::Kind::counter) return values == 0 && slot.more_slots == 0;
  const std::uint32_t behind = values > kFirstValues ? values - kFirstValues : 0;
  return values > 0 && slot.more_slots == (behind + kValuesPerSlot - 1) / kValuesPerSlot;
}

std::string name_of(const detail::ChunkHeader& chunk) {
  return {chunk.thread_name, strnlen(chunk.thread_name, sizeof chunk.thread_name)};
}

}  // namespace

JournalLabels::JournalLabels(const JournalLayout& journal) {
  const std::size_t bytes =
      std::min<std::size_t>(journal.label_bytes.load(), JournalLayout::kLabelBytes);
  for (JournalLabel& read : read_labels({journal.labels.data(), bytes})) {
    Kept& kept = labels_[read.id];
    kept.keys = std::move(read.keys);
    kept.label = {0, std::move(read.name), std::move(read.categories), kept.keys.data(),
                  kept.keys.size()};
    kept.has_name = true;
  }
}

std::uint32_t JournalLabels::number_of(std::uint32_t id) {
  Kept& kept = labels_[id];
  if (kept.label.id != 0) return kept.label.id;
  numbered_.push_back(&kept);
  kept.label.id = static_cast<std::uint32_t>(numbered_.size());
  if (!kept.has_name) kept.label.name = "marker " + std::to_string(id);
  return kept.label.id;
}

JournalRest::JournalRest(const DeadJournal& journal) : journal_(journal), line_(line_of(journal)) {
  const JournalLayout::Commit& commit = journal.commit();
  std::map<std::uint64_t, std::uint32_t> written;  // key: sequence
  for (std::uint64_t i = 0; i < commit.progress_count; ++i)
    written[commit.progress[i].sequence] = commit.progress[i].written;
  for (std::size_t i = 0; i < journal.layout().chunk_count; ++i) {
    detail::ChunkHeader& header = journal.chunk(i);
    if (header.state.load() == kFreeChunk) continue;
    Chunk chunk{&header, header.written.load(), header.committed.load()};
    if (const auto known = written.find(header.sequence); known != written.end())
      chunk.from = std::max(chunk.from, known->second);
    if (chunk.from < chunk.to) chunks_.push_back(chunk);
  }
  std::sort(chunks_.begin(), chunks_.end(),
            [](const Chunk& a, const Chunk& b) { return a.header->sequence < b.header->sequence; });
}

void JournalRest::name_threads(JsonSink& sink, std::int64_t at_ns) const {
  std::set<std::uint32_t> named;
  for (const Chunk& chunk : chunks_)
    if (named.insert(chunk.header->tid).second)
      sink.metadata({"thread_name", "{\"name\":" + json_string(name_of(*chunk.header)) + "}", at_ns,
                     chunk.header->tid});
}

JournalRest::SlotUse JournalRest::use_of(const Chunk& chunk, std::uint32_t at) const {
  const detail::Slot& slot = chunk.header->slots()[at];
  if (!has_form(slot) || slot.more_slots >= chunk.to - at) return SlotUse::damaged;
  // All events of the journal ended in its session; the counters of processors differ by a little.
  constexpr std::uint64_t kLittle = 1'000'000;
  const std::uint64_t start = journal_.layout().start.ticks;
  const std::uint64_t end = EventFeeder::commit_ticks(slot);
  if ((end < start && start - end > kLittle) || !line_.has(end)) return SlotUse::damaged;
  if (slot.time < start || EventFeeder::ends_before_it_begins(slot)) return SlotUse::none;
  return line_.has(slot.time) ? SlotUse::event : SlotUse::damaged;
}

bool JournalRest::is_unreadable() const {
  bool has_damage = false;
  for (const Chunk& chunk : chunks_) {
    for (std::uint32_t i = chunk.from; i < chunk.to;) {
      const SlotUse use = use_of(chunk, i);
      if (use == SlotUse::event) return false;
      has_damage |= use == SlotUse::damaged;
      i += use == SlotUse::damaged ? 1U : 1U + chunk.header->slots()[i].more_slots;
    }
  }
  return has_damage;
}

JournalRest::Counts JournalRest::write(JsonSink& sink) const {
  JournalLabels labels(journal_.layout());
  EventFeeder feeder(line_, [&](std::uint32_t number) { return labels.find(number); });
  const auto to_sink = [&](const auto& use) { use(sink); };
  Counts counts;
  for (const Chunk& chunk : chunks_) {
    const EventThread thread{chunk.header->tid, name_of(*chunk.header)};
    for (std::uint32_t i = chunk.from; i < chunk.to;) {
      detail::Slot& slot = chunk.header->slots()[i];
      const SlotUse use = use_of(chunk, i);
      if (use == SlotUse::damaged) ++counts.damaged;
      // A damaged slot does not say how many slots belong to it, either.
      i += use == SlotUse::damaged ? 1U : 1U + slot.more_slots;
      if (use != SlotUse::event) continue;
      slot.site = labels.number_of(slot.site);
      // A begin that is not among these events is in the file, if it is of that file's time.
      if (slot.kind == detail::Kind::end && slot.time >= journal_.commit().begin_ticks)
        feeder.assume_open(slot);
      counts.add(feeder.feed(slot, thread, to_sink), labels.has_name(slot.site));
      if (sink.wants_flush()) sink.flush();
    }
  }
  const std::uint64_t left_out = sink.take_left_out().events;
  counts.events -= left_out;
  counts.lost += left_out;
  return counts;
}

void JournalRest::Counts::add(bool is_written, bool has_name) {
  if (is_written) {
    ++events;
    if (!has_name) ++unnamed;
  } else if (has_name) {
    ++damaged;
  } else {
    ++lost;
    ++nameless;
  }
}

}  // namespace traceloom::record
