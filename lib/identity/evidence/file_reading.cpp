#include "identity/evidence/file_reading.h"

namespace traceloom {

void ReadingPart::clear() {
  evidence = {};
  threads.clear();
  starts = {};
  ends = {};
}

void FileReading::append(const ReadingPart& part) {
  evidence.append(part.evidence);
  evidence.tally.append(part.threads.sum());
  evidence.threads.append(part.threads);
  starts.add(part.starts);
  ends.add(part.ends);
}

void FileReading::end(const FileEnd& file_end) {
  evidence.add_top_level(file_end.top_level);
  if (evidence.was_merged()) starts.trust();
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
