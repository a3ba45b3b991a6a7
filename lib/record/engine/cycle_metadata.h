// CycleMetadata: what a cycle says besides its events: rank, host, clock, the names of its threads.
//
//   CycleMetadata metadata(parts);
//   metadata.begin_cycle();
//   metadata.write_opening();
//   metadata.thread_of(chunk)     // names the thread, once a cycle
#pragma once

#include "record/buffers/chunk_pool.h"
#include "record/buffers/clock_sync.h"
#include "record/engine/writer_parts.h"
#include "record/trace_handler.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace traceloom::record {

// Only the writer's thread may use it.
class CycleMetadata {
 public:
  explicit CycleMetadata(const WriterParts& parts) : parts_(parts) {}

  // Forgets which threads have been named.
  void begin_cycle() { named_threads_.clear(); }
  void write_opening();
  // Writes the rounds of barriers by which the clocks of ranks are compared; `group` is "start" or
  // "end". `with_value`: also the clock sync in Composer's form.
  void write_rounds(const SyncRounds& rounds, const char* group, bool with_value);
  const EventThread& thread_of(const detail::ChunkHeader& chunk);

 private:
  void write(const char* name, const std::string& args, std::int64_t at_ns, std::int64_t tid);

  const WriterParts& parts_;
  std::map<std::uint32_t, EventThread> threads_;
  std::set<std::uint32_t> named_threads_;  // threads named in the file
};

}  // namespace traceloom::record
