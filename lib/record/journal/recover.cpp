#include "record/journal/recover.h"

#include "base/problems.h"
#include "base/units.h"
#include "output/json_writer.h"
#include "record/buffers/clock.h"
#include "record/files/event_sources.h"
#include "record/files/json_sink.h"
#include "record/files/trace_file.h"
#include "record/journal/journal.h"
#include "record/support/process_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
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
  if (!is_speed || !is_possible(segment.ns)) refuse(path, "is damaged: its clock cannot be");
}

// Measures the speed for a process that was killed before it knew it: the counter still runs if the
// machine has not restarted.
TimeLine::Segment segment_until_now(const DeadJournal& journal) {
  const ClockPair& start = journal.layout().start;
  choose_clock(ClockChoice::tsc);
  const ClockPair now = read_clock_pair();
  if (boot_id() != journal.boot_id() || !detail::clock_is_tsc.load() || now.ticks <= start.ticks ||
      !is_possible(start.monotonic_ns))
    refuse(journal.path(), "the speed of its clock is not known");
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
  std::ranges::sort(segments, [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  if (!is_possible(layout.start.realtime_ns))
    refuse(journal.path(), "is damaged: its clock cannot be");
  return {layout.start, std::move(segments)};
}

// True for a slot in the form that a thread leaves.
bool has_form(const detail::Slot& slot) {
  constexpr std::uint32_t kFirstValues = 2;
  constexpr std::uint32_t kValuesPerSlot = sizeof(detail::Slot) / sizeof(double);
  if (slot.kind == detail::Kind::none || slot.kind > detail::Kind::async_end) return false;
  const std::uint32_t values = slot.value_count;
  if (slot.kind != detail::Kind::counter)
    return values <= detail::kMostArgs &&
           slot.more_slots == values + (slot.kind == detail::Kind::measured ? 1U : 0U);
  const std::uint32_t behind = values > kFirstValues ? values - kFirstValues : 0;
  return values > 0 && slot.more_slots == (behind + kValuesPerSlot - 1) / kValuesPerSlot;
}

std::string name_of(const detail::ChunkHeader& chunk) {
  return {chunk.thread_name, strnlen(chunk.thread_name, sizeof chunk.thread_name)};
}

std::uint32_t take_number(std::string_view& text) {
  std::uint32_t number = 0;
  if (text.size() < sizeof number) {
    text = {};
    return 0;
  }
  std::memcpy(&number, text.data(), sizeof number);
  text.remove_prefix(sizeof number);
  return number;
}

// If the size is damaged, the text ends at a zero: the room for labels is full of them, and each of
// a name would be written as six characters, for each event.
std::string take_text(std::string_view& text) {
  const std::uint32_t size = take_number(text);
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(taken.size());
  return std::string(taken.substr(0, taken.find('\0')));
}

// Labels of a journal, by the numbers that they get here: 1, 2, ... without a gap.
class JournalLabels {
 public:
  explicit JournalLabels(const JournalLayout& journal) {
    std::string_view text(journal.labels.data(), std::min<std::size_t>(journal.label_bytes.load(),
                                                                       JournalLayout::kLabelBytes));
    while (!text.empty()) {
      Kept read;
      const std::uint32_t id = take_number(text);
      read.label.name = take_text(text);
      read.label.categories = take_text(text);
      std::uint32_t keys = take_number(text);
      if (keys > kMostKeys) break;  // damaged: what follows is no label, either
      for (; keys > 0 && !text.empty(); --keys) read.keys.push_back(take_text(text));
      read.has_name = true;
      Kept& kept = labels_[id] = std::move(read);
      for (const std::string& key : kept.keys) kept.key_texts.push_back(key.c_str());
      kept.key_texts.push_back(nullptr);
      kept.label.keys = kept.key_texts.data();
      kept.label.key_count = kept.keys.size();
    }
  }

  // Returns the number of the label that the journal calls `id`. A label without a name there gets
  // one.
  std::uint32_t number_of(std::uint32_t id) {
    Kept& kept = labels_[id];
    if (kept.label.id != 0) return kept.label.id;
    numbered_.push_back(&kept);
    kept.label.id = static_cast<std::uint32_t>(numbered_.size());
    if (!kept.has_name) kept.label.name = "marker " + std::to_string(id);
    return kept.label.id;
  }
  bool has_name(std::uint32_t number) const { return numbered_.at(number - 1)->has_name; }
  const EventLabel* find(std::uint32_t number) const { return &numbered_.at(number - 1)->label; }

 private:
  struct Kept {
    EventLabel label;
    std::vector<std::string> keys;
    std::vector<const char*> key_texts;  // the same
    bool has_name = false;
  };
  std::map<std::uint32_t, Kept> labels_;
  std::vector<const Kept*> numbered_;
};

// The events of a journal that its trace file does not have. What the journal says of them may be
// damaged: slots with impossible numbers are no events, and are counted.
class JournalRest {
 public:
  // `journal` must have been checked, and must outlive this object. Throws Error if its times are
  // impossible.
  explicit JournalRest(const DeadJournal& journal) : journal_(journal), line_(line_of(journal)) {
    for (std::size_t i = 0; i < journal.layout().chunk_count; ++i) {
      detail::ChunkHeader& header = journal.chunk(i);
      if (header.state.load() == kFreeChunk) continue;
      const Chunk chunk{&header, journal.written_of(header), header.committed.load()};
      if (chunk.from < chunk.to) chunks_.push_back(chunk);
    }
    std::ranges::sort(chunks_, [](const Chunk& a, const Chunk& b) {
      return a.header->sequence < b.header->sequence;
    });
  }

  bool empty() const { return chunks_.empty(); }

  // True if there is damage, and not a single event.
  bool is_unreadable() const {
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

  // Names the threads that have events here.
  void name_threads(JsonSink& sink, std::int64_t at_ns) const {
    std::set<std::uint32_t> named;
    for (const Chunk& chunk : chunks_)
      if (named.insert(chunk.header->tid).second)
        sink.metadata(metadata_of("thread_name", json_object("name", name_of(*chunk.header)), at_ns,
                                  chunk.header->tid));
  }

  // Returns what became of the events.
  RecoveredTrace write(JsonSink& sink) const {
    JournalLabels labels(journal_.layout());
    EventFeeder feeder(line_, [&](std::uint32_t number) { return labels.find(number); });
    const auto to_sink = [&](const auto& use) { use(sink); };
    RecoveredTrace counts;
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
        count(feeder.feed(slot, thread, to_sink), labels.has_name(slot.site), counts);
        if (sink.wants_flush()) sink.flush();
      }
    }
    const std::uint64_t left_out = sink.take_left_out().events;
    counts.events -= left_out;
    counts.lost += left_out;
    return counts;
  }

 private:
  // A chunk that was in use, and its slots that are not in the file.
  struct Chunk {
    detail::ChunkHeader* header = nullptr;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  // `none` is an event that began before the session, or on another clock: it does not concern the
  // session.
  enum class SlotUse : std::uint8_t { event, none, damaged };

  SlotUse use_of(const Chunk& chunk, std::uint32_t at) const {
    const detail::Slot& slot = chunk.header->slots()[at];
    if (!has_form(slot) || slot.more_slots >= chunk.to - at) return SlotUse::damaged;
    // All events of the journal ended in its session; the counters of processors differ by a
    // little.
    constexpr std::uint64_t kLittle = 1'000'000;
    const std::uint64_t start = journal_.layout().start.ticks;
    const std::uint64_t end = EventFeeder::commit_ticks(slot);
    if ((end < start && start - end > kLittle) || !line_.has(end)) return SlotUse::damaged;
    if (slot.time < start || EventFeeder::ends_before_it_begins(slot)) return SlotUse::none;
    return line_.has(slot.time) ? SlotUse::event : SlotUse::damaged;
  }

  static void count(bool is_written, bool has_name, RecoveredTrace& counts) {
    if (is_written) {
      ++counts.events;
      if (!has_name) ++counts.unnamed;
    } else if (has_name) {
      ++counts.damaged;
    } else {
      ++counts.lost;
      ++counts.nameless;
    }
  }

  const DeadJournal& journal_;
  TimeLine line_;
  std::vector<Chunk> chunks_;  // in the order in which threads got them
};

namespace fs = std::filesystem;

bool is_in_or_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

// Returns the trace that the journal is about, without any link in the way to it; "" if it names
// none. Throws Error if a recorder would not have written that name, or if nobody has named its
// folder.
std::string trace_of(const DeadJournal& journal, const std::vector<std::string>& folders) {
  const fs::path told = journal.trace_path();
  if (told.empty()) return "";
  if (finished_path(told) == told)
    refuse(journal.path(),
           fmt::format("is about {}, which is not the name of an unfinished trace", told.string()));
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(told.parent_path(), error);
  const bool is_named = !error && std::ranges::any_of(folders, [&](const std::string& named) {
    std::error_code failure;
    const fs::path whole = fs::weakly_canonical(named, failure);
    return !failure && is_in_or_below(folder, whole);
  });
  if (!is_named)
    throw Error(
        journal.path(),
        fmt::format("its trace is in {0}, which is no folder that was named; "
                    "trace-merge --recover {1} {0} completes it",
                    told.parent_path().string(), fs::path(journal.path()).parent_path().string()));
  return folder / told.filename();
}

// Returns whether the file that the journal is about is still there under that name. It is not if
// it has another name by now, or if somebody else has put a file there. Throws ForeignFile if what
// is there must not be touched.
bool has_its_file(const DeadJournal& journal, const std::string& trace) {
  struct stat info {};
  const std::uint64_t inode = journal.commit().state.inode;
  if (inode == 0 || lstat(trace.c_str(), &info) != 0) return false;
  if (!S_ISLNK(info.st_mode) && info.st_ino != inode) return false;
  check_own_file(trace, info);
  return true;
}

// Writes what a file without any text lacks.
void write_opening(JsonSink& sink, const DeadJournal& journal, const JournalRest& rest) {
  const std::int64_t at_ns = journal.layout().start.realtime_ns;
  const std::int64_t rank = journal.layout().rank;
  const auto say = [&](const char* name, const std::string& args) {
    sink.metadata(metadata_of(name, args, at_ns, 0));
  };
  say("process_name", json_object("name", fmt::format("Rank {} training loop process", rank)));
  say("global_rank", json_object("value", rank));
  say("process_sort_index", json_object("sort_index", rank));
  rest.name_threads(sink, at_ns);
}

// Returns what the recorder would have said at the end.
std::string counts_json(const DeadJournal& journal, const RecoveredTrace& rest) {
  const JournalLayout::CycleCounts& before = journal.commit().counts;
  RecorderCounts counts;
  counts.events = before.written + rest.events;
  counts.dropped = before.dropped;
  counts.lost = before.lost + rest.lost;
  counts.unnamed = rest.unnamed;
  counts.recovered = rest.events;
  counts.damaged = rest.damaged;
  // The journal does not say why events were lost before.
  if (rest.lost > 0 && before.lost == 0)
    counts.error = rest.nameless > 0 ? "the journal had no room for the names of all values"
                                     : "counters without any value that is a number";
  return recorder_json(counts);
}

void cut_back(const std::string& trace, int level, const FileState& state) {
  try {
    const TraceFile cut(trace, level, state);
  } catch (const Error&) {  // the first problem is reported
  }
}

// Completes the trace of a journal. In the end the trace is whole, or as it was. `is_there`: the
// file that the journal is about is at `trace`.
RecoveredTrace complete(const DeadJournal& journal, const std::string& trace, bool is_there,
                        const JournalRest& rest) {
  constexpr std::int64_t kBestLevel = 9;
  const JournalLayout& layout = journal.layout();
  const FileState& state = journal.commit().state;
  const auto level = static_cast<int>(std::clamp<std::int64_t>(layout.gzip_level, 0, kBestLevel));
  const bool goes_on = is_there && state.bytes > 0;
  const std::string final_path = finished_path(trace);
  const CycleInfo cycle{sizeof(CycleInfo), layout.rank, 0, final_path.c_str()};
  JsonSink sink({level, false, {}, Naming::at_end});
  try {
    std::error_code ignored;  // a problem shows when the file is made, or both are there
    fs::create_directories(fs::path(trace).parent_path(), ignored);
    // If the file has been finished already, what is left belongs to the file that comes next.
    if (goes_on)
      sink.resume({sizeof(CycleInfo), layout.rank, 0, trace.c_str()}, state);
    else
      sink.begin_cycle(cycle);
    if (sink.state().text_bytes == 0) write_opening(sink, journal, rest);
    RecoveredTrace result = rest.write(sink);
    sink.flush();
    const std::string counts = counts_json(journal, result);
    sink.write_end({metadata_of("recorder", counts, layout.start.realtime_ns, 0)});
    // The new file says all that the old one says.
    if (is_there && !goes_on) fs::remove(trace, ignored);
    sink.end_cycle(cycle);
    result.path = sink.final_path();
    return result;
  } catch (...) {
    // A new file is gone with its sink, and a file that was there before keeps what it had.
    sink.drop_file();
    if (goes_on) cut_back(trace, level, state);
    throw;
  }
}

RecoveredTrace recover(DeadJournal& journal, const std::vector<std::string>& folders) {
  RecoveredTrace result;
  journal.check();
  const JournalRest rest(journal);
  // It holds nothing, whatever was named, if its trace has been finished or is gone.
  const std::uint64_t inode = journal.commit().state.inode;
  if (rest.empty() && (inode == 0 || inode_of(journal.trace_path()) != inode)) {
    unlink(journal.path().c_str());
    return result;
  }
  const std::string trace = trace_of(journal, folders);
  const bool is_there = !trace.empty() && has_its_file(journal, trace);
  const bool has_text = is_there && journal.commit().state.bytes > 0;
  if (!has_text && rest.is_unreadable())
    refuse(journal.path(), "is damaged: none of its events can be read");
  if (!trace.empty() && (has_text || !rest.empty()))
    result = complete(journal, trace, is_there, rest);
  unlink(journal.path().c_str());
  return result;
}

std::vector<std::string> journals_in(const std::string& folder, std::optional<std::int64_t> rank) {
  std::vector<std::string> paths;
  std::error_code error;
  const std::string prefix = "traceloom-rank" + (rank ? std::to_string(*rank) + "-" : "");
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(prefix) && name.ends_with(".journal")) paths.push_back(entry.path());
  }
  if (error) throw system_error(folder, error.value());
  std::ranges::sort(paths);
  return paths;
}

// Returns nullopt if there is nothing to report.
std::optional<RecoveredTrace> try_to_recover(const std::string& path,
                                             const std::vector<std::string>& folders) {
  RecoveredTrace result;
  try {
    std::optional<DeadJournal> journal;
    try {
      journal.emplace(path);
    } catch (const ForeignFile&) {
      result.is_foreign = true;
      throw;
    }
    if (!journal->exists() || !journal->lock()) return std::nullopt;
    if (journal->is_blank()) {
      unlink(path.c_str());
      return std::nullopt;
    }
    result = recover(*journal, folders);
  } catch (const Error& error) {
    result.problem = error.path() == path ? error.problem() : error.what();
  } catch (const std::exception& error) {
    result.problem = error.what();
  }
  result.journal = path;
  return result;
}

}  // namespace

std::vector<RecoveredTrace> recover_journals(const std::string& folder,
                                             const std::vector<std::string>& trace_folders,
                                             std::optional<std::int64_t> rank) {
  std::vector<RecoveredTrace> results;
  for (const std::string& path : journals_in(folder, rank))
    if (std::optional<RecoveredTrace> result = try_to_recover(path, trace_folders))
      results.push_back(*std::move(result));
  return results;
}

std::size_t count_old_journals(const std::string& folder) {
  constexpr std::chrono::hours kOld{24};
  std::size_t count = 0;
  for (const std::string& path : journals_in(folder, std::nullopt)) {
    try {
      const fs::file_time_type time = fs::last_write_time(path);
      if (fs::file_time_type::clock::now() - time < kOld) continue;
      const DeadJournal journal(path);
      if (journal.exists() && journal.lock()) ++count;
    } catch (const std::exception&) {  // it is not this user's own, or is gone
    }
  }
  return count;
}

std::string words_of_loss(const RecoveredTrace& trace) {
  std::string words;
  if (trace.unnamed > 0)
    words += fmt::format(", {} without the names of their markers", trace.unnamed);
  if (trace.lost > 0) words += fmt::format(", {} lost", trace.lost);
  if (trace.damaged > 0)
    words += fmt::format(", {} left out that {} damaged in the journal", trace.damaged,
                         plural(trace.damaged, "is", "are"));
  return words;
}

std::string words_of_problem(const RecoveredTrace& trace) {
  return fmt::format("{}: {}: {}", trace.journal,
                     trace.is_foreign ? "is left alone" : "cannot be recovered", trace.problem);
}

}  // namespace traceloom::record
