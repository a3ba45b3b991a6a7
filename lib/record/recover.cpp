#include "record/recover.h"

#include "base/error.h"
#include "base/json_string.h"
#include "record/clock_sync.h"
#include "record/event_feeder.h"
#include "record/journal.h"
#include "record/json_sink.h"
#include "record/trace_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace traceloom::record {
namespace {

// A journal of a process that has died, mapped so that nothing here changes it.
class DeadJournal {
 public:
  explicit DeadJournal(const std::string& path) : path_(path) {
    file_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file_ < 0 && errno != ENOENT) throw system_error(path, errno);
  }
  ~DeadJournal() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
    if (file_ >= 0) close(file_);
  }
  DeadJournal(const DeadJournal&) = delete;
  DeadJournal& operator=(const DeadJournal&) = delete;

  // False while its process lives, or when another recovery was faster, which may have taken it
  // away before it was opened.
  bool lock() const { return file_ >= 0 && lock_journal(file_, path_); }
  // False when its process did not live to finish it.
  bool map() {
    struct stat info {};
    if (fstat(file_, &info) != 0 ||
        info.st_size < static_cast<off_t>(sizeof(JournalLayout) + detail::kChunkBytes))
      return false;
    bytes_ = static_cast<std::size_t>(info.st_size);
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file_, 0);
    if (memory == MAP_FAILED) throw system_error(path_, errno);
    memory_ = static_cast<std::byte*>(memory);
    const JournalLayout& journal = layout();
    return journal.magic.load() == JournalLayout::kMagic && journal.bytes == bytes_ &&
           journal.chunk_count <= JournalLayout::kMaxChunks &&
           journal.chunk_offset + journal.chunk_count * detail::kChunkBytes <= bytes_;
  }
  const JournalLayout& layout() const { return *reinterpret_cast<JournalLayout*>(memory_); }
  const JournalLayout::Commit& commit() const {
    return layout().commits[layout().commit_number.load() % 2];
  }
  detail::ChunkHeader& chunk(std::size_t index) const {
    return *reinterpret_cast<detail::ChunkHeader*>(memory_ + layout().chunk_offset +
                                                   index * detail::kChunkBytes);
  }

 private:
  std::string path_;
  int file_ = -1;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

TimeLine line_of(const JournalLayout& journal) {
  std::vector<TimeLine::Segment> segments;
  const std::uint64_t count = journal.segment_count.load();
  const std::uint64_t kept = std::min<std::uint64_t>(count, JournalLayout::kSegments);
  for (std::uint64_t i = count - kept; i < count; ++i)
    segments.push_back(journal.segments[i % JournalLayout::kSegments]);
  if (journal.is_tsc == 0) {
    segments = {{journal.start.ticks, journal.start.realtime_ns, 1}};
  } else if (segments.empty()) {
    // Killed before it knew its counter's speed; the counter still runs, if the machine does.
    choose_clock(ClockChoice::automatic);
    if (boot_id() != journal.boot_id.data() || !detail::clock_is_tsc.load())
      throw Error(journal.boot_id.data(), "the speed of its clock is not known");
    const ClockPair now = read_clock_pair();
    segments = {{journal.start.ticks, journal.start.realtime_ns,
                 static_cast<double>(now.monotonic_ns - journal.start.monotonic_ns) /
                     static_cast<double>(now.ticks - journal.start.ticks)}};
  }
  return {journal.start, std::move(segments)};
}

// The chunks that were in use, in the order in which threads got them, and from where on they are
// not in the file.
struct RestOfChunk {
  detail::ChunkHeader* chunk = nullptr;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

std::string name_of(const detail::ChunkHeader& chunk) {
  return {chunk.thread_name, strnlen(chunk.thread_name, sizeof chunk.thread_name)};
}

std::vector<RestOfChunk> rests_of(const DeadJournal& journal) {
  std::vector<RestOfChunk> rests;
  const JournalLayout::Commit& commit = journal.commit();
  std::map<std::uint64_t, std::uint32_t> written;  // by sequence
  for (std::uint64_t i = 0; i < std::min(commit.progress_count, JournalLayout::kMaxChunks); ++i)
    written[commit.progress[i].sequence] = commit.progress[i].written;
  for (std::size_t i = 0; i < journal.layout().chunk_count; ++i) {
    detail::ChunkHeader& chunk = journal.chunk(i);
    if (chunk.state.load() == kFreeChunk) continue;
    RestOfChunk rest{&chunk, chunk.written.load(),
                     std::min(chunk.committed.load(), detail::kChunkSlots)};
    if (const auto known = written.find(chunk.sequence); known != written.end())
      rest.from = std::max(rest.from, known->second);
    if (rest.from < rest.to) rests.push_back(rest);
  }
  std::sort(rests.begin(), rests.end(), [](const RestOfChunk& a, const RestOfChunk& b) {
    return a.chunk->sequence < b.chunk->sequence;
  });
  return rests;
}

// What a label stands for; one that found no room in the journal is called by its number.
class Labels {
 public:
  explicit Labels(const JournalLayout& journal) {
    const std::size_t bytes =
        std::min<std::size_t>(journal.label_bytes.load(), JournalLayout::kLabelBytes);
    for (JournalLabel& read : read_labels({journal.labels.data(), bytes})) {
      Kept& kept = labels_[read.id];
      kept.keys = std::move(read.keys);
      kept.label = {read.id, std::move(read.name), std::move(read.categories), kept.keys.data(),
                    kept.keys.size()};
    }
  }
  const EventLabel* find(std::uint32_t id) {
    Kept& kept = labels_[id];
    if (kept.label.id == 0) kept.label = {id, "marker " + std::to_string(id), "", nullptr, 0};
    return &kept.label;
  }

 private:
  struct Kept {
    EventLabel label;
    std::vector<std::string> keys;
  };
  std::map<std::uint32_t, Kept> labels_;
};

// What a file without any text lacks.
void write_opening(JsonSink& sink, const DeadJournal& journal,
                   const std::vector<RestOfChunk>& rests) {
  const std::int64_t at_ns = journal.layout().start.realtime_ns;
  const std::string rank = std::to_string(journal.layout().rank);
  sink.metadata(
      {"process_name", R"({"name":"Rank )" + rank + R"( training loop process"})", at_ns, 0});
  sink.metadata({"global_rank", "{\"value\":" + rank + "}", at_ns, 0});
  sink.metadata({"process_sort_index", "{\"sort_index\":" + rank + "}", at_ns, 0});
  std::set<std::uint32_t> named;
  for (const RestOfChunk& rest : rests)
    if (named.insert(rest.chunk->tid).second)
      sink.metadata({"thread_name", "{\"name\":" + json_string(name_of(*rest.chunk)) + "}", at_ns,
                     rest.chunk->tid});
}

// Whether the file that the journal is about is still there under that name. One that it had
// another name for by then, or that somebody else has put there, is not.
bool has_its_file(const DeadJournal& journal) {
  const JournalLayout::Commit& commit = journal.commit();
  return commit.state.inode != 0 && inode_of(commit.path.data()) == commit.state.inode;
}

void open_trace(JsonSink& sink, const DeadJournal& journal, const std::vector<RestOfChunk>& rests) {
  const JournalLayout::Commit& commit = journal.commit();
  const std::string path = commit.path.data();
  const bool is_there = has_its_file(journal);
  // When the file has been finished already, what is left belongs to one that comes next.
  if (is_there && commit.state.bytes > 0) {
    sink.resume({journal.layout().rank, 0, path}, commit.state);
  } else {
    std::error_code ignored;  // what is wrong shows when the file is made
    if (is_there) std::filesystem::remove(path, ignored);  // nothing that it has is committed
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    sink.begin_cycle({journal.layout().rank, 0, new_unfinished_path(finished_path(path))});
  }
  if (sink.state().text_bytes == 0) write_opening(sink, journal, rests);
}

std::uint64_t write_rests(JsonSink& sink, const DeadJournal& journal,
                          const std::vector<RestOfChunk>& rests) {
  const TimeLine line = line_of(journal.layout());
  Labels labels(journal.layout());
  EventFeeder feeder(line, [&](std::uint32_t id) { return labels.find(id); });
  std::uint64_t events = 0;
  for (const RestOfChunk& rest : rests) {
    const EventThread thread{rest.chunk->tid, name_of(*rest.chunk)};
    for (std::uint32_t i = rest.from; i < rest.to; i += 1U + rest.chunk->slots()[i].more_slots) {
      const detail::Slot& slot = rest.chunk->slots()[i];
      if (slot.time < journal.layout().start.ticks || i + slot.more_slots >= rest.to) continue;
      // A begin that is not among the rests is in the file, when it is of that file's time.
      if (slot.kind == detail::Kind::end && slot.time >= journal.commit().begin_ticks)
        feeder.assume_open(slot);
      const auto call = [&](const auto& use) { use(sink); };
      events += feeder.feed(slot, thread, call) ? 1 : 0;
      if (sink.wants_flush()) sink.flush();
    }
  }
  return events - sink.take_left_out().events;
}

RecoveredTrace recover(const std::string& path, DeadJournal& journal) {
  RecoveredTrace result;
  result.journal = path;
  const std::string trace = journal.commit().path.data();
  const std::vector<RestOfChunk> rests = rests_of(journal);
  const bool has_file = journal.commit().state.bytes > 0 && has_its_file(journal);
  if (!trace.empty() && (has_file || !rests.empty())) {
    JsonSink sink({static_cast<int>(journal.layout().gzip_level), false,
                   [&](const FileState&) { return new_unfinished_path(finished_path(trace)); }});
    open_trace(sink, journal, rests);
    result.events = write_rests(sink, journal, rests);
    sink.end_cycle({journal.layout().rank, 0, finished_path(trace)});
    result.path = sink.final_path();
  }
  unlink(path.c_str());
  return result;
}

}  // namespace

std::vector<RecoveredTrace> recover_journals(const std::string& folder,
                                             std::optional<std::int64_t> rank) {
  std::vector<std::string> paths;
  std::error_code error;
  const std::string prefix = "traceloom-rank" + (rank ? std::to_string(*rank) + "-" : "");
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(prefix) && name.ends_with(".journal")) paths.push_back(entry.path());
  }
  if (error) throw system_error(folder, error.value());
  std::sort(paths.begin(), paths.end());
  std::vector<RecoveredTrace> results;
  for (const std::string& path : paths) {
    try {
      DeadJournal journal(path);
      if (!journal.lock()) continue;
      if (journal.map())
        results.push_back(recover(path, journal));
      else
        unlink(path.c_str());
    } catch (const std::exception& problem) {
      results.push_back({path, "", 0, problem.what()});
    }
  }
  return results;
}

}  // namespace traceloom::record
