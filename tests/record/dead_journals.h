// leave_journal(): makes journals as killed processes leave them, without a process; told_ranges():
// where such a journal can be damaged.
#pragma once

#include "record/buffers/registry.h"
#include "record/journal/journal.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace traceloom::record {

struct LeftJournal {
  std::string folder = {};
  std::string trace = {};  // the path that the journal says
  FileState state = {};    // the state of that file
  // "work", of a microsecond each, followed by a counter of three values.
  std::uint32_t events = 10;
  bool is_tsc = false;  // ticks are the counter's, of which the journal has two speeds
};

// Makes a journal whose ticks are nanoseconds, or nearly so. Returns its path.
inline std::string leave_journal(const LeftJournal& left) {
  constexpr std::int64_t kStartNs = 1'700'000'000'000'000'000;
  constexpr std::uint64_t kStartTicks = 1'000'000'000;
  detail::clock_is_tsc = left.is_tsc;
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.journal_folder = left.folder.c_str();
  options.rank = 0;
  options.pool_bytes = options.max_pool_bytes = detail::kChunkBytes;
  Journal journal(options, {kStartTicks, 1'000'000'000, kStartNs, 20});
  detail::clock_is_tsc = false;
  if (left.is_tsc) {
    journal.add_segment({kStartTicks, kStartNs, 1});
    journal.add_segment({kStartTicks + 5000, kStartNs + 5000, 1.0001});
  }
  Label work;
  static_cast<EventLabel&>(work).id = 1;
  work.name = "work";
  Label memory;
  static_cast<EventLabel&>(memory).id = 2;
  memory.name = "memory";
  memory.key_names = {"a", "b", "c"};
  journal.add_label(work);
  journal.add_label(memory);
  auto* const chunk = new (journal.chunks()) detail::ChunkHeader{};
  chunk->tid = 4711;
  chunk->sequence = 1;
  chunk->state = kActiveChunk;
  std::uint32_t used = 0;
  for (; used < left.events; ++used)
    chunk->slots()[used] = {
        kStartTicks + std::uint64_t{used} * 2000, 1000, 0, 1, detail::Kind::whole, 0, 0};
  chunk->slots()[used++] = {kStartTicks, 0, 0, 2, detail::Kind::counter, 3, 1};
  chunk->slots()[used++] = {};
  chunk->committed = used;
  journal.commit_file(left.trace, kStartTicks, left.state);
  munmap(journal.chunks(), journal.chunk_bytes());  // the head is the journal's
  return journal.path();
}

// A place where a journal says something: most of it is room.
struct ToldRange {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

inline std::vector<ToldRange> told_ranges() {
  constexpr std::size_t kCommit = offsetof(JournalLayout, commits) + sizeof(JournalLayout::Commit);
  constexpr std::size_t kChunk = JournalLayout::head_bytes();
  return {{0, offsetof(JournalLayout, segments) + 2 * sizeof(TimeLine::Segment)},
          {offsetof(JournalLayout, segment_count), 3 * sizeof(std::uint64_t)},
          {offsetof(JournalLayout, labels), 80},
          {offsetof(JournalLayout, commit_number), sizeof(std::uint64_t)},
          {kCommit, offsetof(JournalLayout::Commit, path)},
          {kCommit + offsetof(JournalLayout::Commit, path), 80},
          {kCommit + offsetof(JournalLayout::Commit, progress), 64},
          {kChunk, sizeof(detail::ChunkHeader)},
          {kChunk + sizeof(detail::ChunkHeader), 12 * sizeof(detail::Slot)}};
}

}  // namespace traceloom::record
