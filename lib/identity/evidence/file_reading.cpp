#include "identity/evidence/file_reading.h"

#include "base/arithmetic.h"

namespace traceloom {

// A paired E is never before its B, and a stray one has no place: neither can be the first time.
void ReadingPart::add_times(const Event& event, const EventTiming& timing) {
  if (event.phase == 'M') return;
  if (event.phase == 'E')
    starts.add_end(timing.start_ns);
  else
    starts.add(timing.start_ns, event.offset);
  async_spans += event.phase == 'b' || event.phase == 'S' ? 1 : 0;
  if (event.phase != 'B') ends.add(saturating_add(timing.start_ns, timing.duration_ns));
}

void ReadingPart::clear() {
  evidence = {};
  threads.clear();
  starts = {};
  ends = {};
  async_spans = 0;
}

void FileReading::append(const ReadingPart& part) {
  evidence.append(part.evidence);
  evidence.threads.append(part.threads);
  starts.add(part.starts);
  ends.add(part.ends);
  async_spans += part.async_spans;
}

void FileReading::end(const FileEnd& file_end) {
  evidence.add_top_level(file_end.top_level);
  if (evidence.was_merged()) {
    starts.trust();
    ends.trust();
  }
  problems.add(file_end.problems);
  problems.add(evidence.problems);
  listed = file_end.events;
  text_bytes = file_end.text_bytes;
}

void stop_at(const Error& error, std::size_t files) {
  if (files > 1) throw with_advice(error, "--keep-going leaves it out");
  throw error;
}

}  // namespace traceloom
