#include "scan/list_reader.h"

#include "base/arithmetic.h"
#include "base/problems.h"
#include "base/units.h"
#include "event/event_timing.h"

#include <cstring>
#include <utility>

namespace traceloom {

bool ChunkReader::next(Chunk& chunk) {
  if (ended_) return false;
  if (!chunk.buffer) chunk.buffer = std::make_unique_for_overwrite<char[]>(chunk_bytes_ + 1);
  if (!tail_) tail_ = std::make_unique_for_overwrite<char[]>(chunk_bytes_);
  std::memcpy(chunk.buffer.get(), tail_.get(), tail_size_);
  const std::size_t wanted = chunk_bytes_ - tail_size_;
  const std::size_t got = source_.read({chunk.buffer.get() + tail_size_, wanted});
  chunk.size = tail_size_ + got;
  chunk.offset = offset_;
  chunk.at_event_start = at_event_start_;
  chunk.last = ended_ = got < wanted;
  tail_size_ = 0;
  at_event_start_ = false;
  if (!ended_) {
    const std::size_t cut = find_last_event_start(chunk.text(), 1);
    if (cut != std::string_view::npos) {
      tail_size_ = chunk.size - cut;
      std::memcpy(tail_.get(), chunk.buffer.get() + cut, tail_size_);
      chunk.size = cut;
      at_event_start_ = true;
    }
  }
  chunk.buffer[chunk.size] = '\0';
  offset_ += chunk.size;
  return true;
}

// These functions stand here and not next to scan_files(), so that a program that reads a file
// without scan_files() does not need TBB, which that uses.
std::unique_ptr<ChunkResult> FileVisitor::take_result() {
  std::unique_lock lock(mutex_);
  if (recycled_.empty()) {
    lock.unlock();
    return make_result();
  }
  std::unique_ptr<ChunkResult> result = std::move(recycled_.back());
  recycled_.pop_back();
  return result;
}
void FileVisitor::recycle(std::unique_ptr<ChunkResult> result) {
  if (!result->reset()) return;
  const std::lock_guard lock(mutex_);
  recycled_.push_back(std::move(result));
}
void FileVisitor::finish_chunk(ChunkResult&) {}
void FileVisitor::fail_file(std::size_t, const Error& error) {
  throw error;
}

namespace {

// Looks for times until there is a usable one.
void note_time(const Event& event, ScannedText& scanned) {
  if (event.phase == 'M' || event.phase == 0) return;
  const std::string_view ts = event.text(Key::ts);
  scanned.has_time = parse_time(ts).has_value();
  if (!scanned.nanoseconds && is_nanoseconds(ts)) scanned.nanoseconds = event.offset;
}

}  // namespace

ScannedText scan_text(FileVisitor& visitor, std::size_t file, std::string_view text,
                      std::uint64_t offset, Position position, Behind behind) {
  thread_local EventScanner scanner;  // keeps its bitmaps from chunk to chunk
  ScannedText scanned;
  scanned.result = visitor.take_result();
  scanner.start(text, offset, position, scanned.problems, behind, visitor.wanted_args());
  while (const Event* event = scanner.next()) {
    ++scanned.events;
    scanned.has_phase |= event->phase != 0;
    if (!scanned.has_time) [[unlikely]]
      note_time(*event, scanned);
    visitor.visit(*scanned.result, file, *event);
  }
  visitor.finish_chunk(*scanned.result);
  scanned.end = scanner.end();
  scanned.end_position = scanner.end_position();
  scanned.next = scanner.next_position();
  return scanned;
}

void ListReader::add(const Chunk& chunk, std::size_t skip, ScannedText scanned) {
  const std::string_view text = chunk.text().substr(skip);
  const std::uint64_t offset = chunk.offset + skip;
  const Behind behind = chunk.last ? Behind::nothing : Behind::more_text;
  if (skips_ && chunk.at_event_start) {
    skips_ = false;
    next_ = Position::after_comma;
  }
  const Position assumed = chunk.at_event_start ? Position::after_comma : Position::first;
  if (scanned.result && in_list_ && !skips_ && carry_.empty() && next_ == assumed) {
    const std::string_view rest = accept(std::move(scanned), text, offset);
    if (!in_list_) read_on(rest, offset + (text.size() - rest.size()), behind);
    return;
  }
  if (scanned.result) visitor_.recycle(std::move(scanned.result));
  if (skips_) {
    stop_skipping(text, offset, behind);
  } else if (carry_.empty()) {
    read_on(text, offset, behind);
  } else {
    join(text, behind);
  }
}

// The best guess for the end of an event that is too large is the next start of an event.
void ListReader::stop_skipping(std::string_view text, std::uint64_t offset, Behind behind) {
  const std::size_t start = find_event_start(text, 0);
  if (start == std::string_view::npos) return;
  skips_ = false;
  next_ = Position::after_comma;
  read_on(text.substr(start), offset + start, behind);
}

// Joined text is scanned again only after it has doubled. So one event of many chunks costs twice
// its size and not its square.
void ListReader::join(std::string_view text, Behind behind) {
  carry_.append(text);
  const bool doubled = carry_.size() >= 2 * scanned_carry_ || carry_.size() > max_event_bytes_;
  if (behind == Behind::more_text && !doubled) return;
  const std::string joined = std::exchange(carry_, {});
  read_on(joined, carry_offset_, behind);
}

// Takes the results of scanning `text` and keeps an event that is not whole. Returns the text after
// the list if the list has ended.
std::string_view ListReader::accept(ScannedText scanned, std::string_view text,
                                    std::uint64_t offset) {
  visitor_.take(*scanned.result, file_);
  visitor_.recycle(std::move(scanned.result));
  problems_.add(scanned.problems);
  events_ += scanned.events;
  has_phase_ |= scanned.has_phase;
  has_time_ |= scanned.has_time;
  keep_first(nanoseconds_, scanned.nanoseconds);
  next_ = scanned.next;
  const std::string_view rest = text.substr(scanned.end_position);
  const std::uint64_t rest_offset = offset + scanned.end_position;
  if (scanned.end == ScanEnd::cut && rest.size() > max_event_bytes_) {
    problems_.add(Problem::event_too_large, rest_offset);
    skips_ = true;
  } else if (scanned.end == ScanEnd::cut) {
    carry_ = rest;
    carry_offset_ = rest_offset;
    scanned_carry_ = carry_.size();
  } else if (scanned.end == ScanEnd::array) {
    in_list_ = false;
    parser_.resume(rest_offset);
  }
  return rest;
}

// Reads `text` here, in the serial stage: inside the list, or after it, where further lists may
// begin.
void ListReader::read_on(std::string_view text, std::uint64_t offset, Behind behind) {
  while (true) {
    if (!in_list_) {
      const std::size_t used = parser_.feed(text);
      in_list_ = parser_.state() == TopLevelParser::State::in_list;
      if (!in_list_) return;
      next_ = Position::first;
      text.remove_prefix(used);
      offset += used;
    }
    const std::string_view rest =
        accept(scan_text(visitor_, file_, text, offset, next_, behind), text, offset);
    if (in_list_) return;
    offset += text.size() - rest.size();
    text = rest;
  }
}

// Refuses a list without events, for example of numbers or of the results of another tool, and one
// without a time.
void ListReader::check_events() const {
  if (nanoseconds_ && !has_time_)
    throw Error(
        path_, *nanoseconds_,
        "its times are nanoseconds since 1970, not microseconds as in traces; divide ts and dur by "
        R"x(1000: perl -Minteger -pe 's#"(ts|dur)": *\K\d+#sprintf "%d.%03d", $&/1000, $&%1000#ge')x");
  if (has_phase_) return;
  if (events_ > 0)
    throw Error(path_, "not a trace: nothing in the list has a phase (ph), as events have");
  if (problems_.count(Problem::malformed_event) > 0)
    throw Error(path_, problems_.first_offset(Problem::malformed_event),
                "not a trace: what stands in the event list is not JSON");
  const bool other = problems_.count(Problem::not_an_object) > 0;
  if (other || (!carry_.empty() && !carry_.starts_with('{')))
    throw Error(path_, other ? problems_.first_offset(Problem::not_an_object) : carry_offset_,
                "not a trace: what stands in the event list are no objects, as events are");
}

FileEnd ListReader::finish(std::uint64_t text_bytes, const ProblemCounts& source_problems) {
  const bool cut = in_list_ && !carry_.empty();
  if (cut) {
    problems_.add(Problem::cut_event, carry_offset_);
    const std::uint64_t lost = text_bytes - carry_offset_;
    problems_.explain(Problem::cut_event,
                      count_of(lost, "byte") + plural(lost, " is lost", " are lost"));
  }
  parser_.finish(text_bytes, cut);
  check_events();
  if (events_ == 0) problems_.add(Problem::empty_trace, 0);
  problems_.add(parser_.problems());
  problems_.add(source_problems);
  return {parser_, problems_, events_, text_bytes};
}

}  // namespace traceloom
