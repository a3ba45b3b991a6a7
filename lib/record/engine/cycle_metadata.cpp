#include "record/engine/cycle_metadata.h"

#include "base/json_string.h"
#include "record/buffers/registry.h"

namespace traceloom::record {
namespace {

std::string value_json(std::int64_t value) {
  return "{\"value\":" + std::to_string(value) + "}";
}

std::string text_json(const char* key, const std::string& text) {
  std::string json = std::string("{\"") + key + "\":";
  append_json_string(json, text);
  return json + "}";
}

}  // namespace

void CycleMetadata::write(const char* name, const std::string& args, std::int64_t at_ns,
                          std::int64_t tid) {
  const MetadataEvent event{name, args, at_ns, tid};
  parts_.handlers.call([&](TraceHandler& handler) { handler.metadata(event); });
}

// The first five are Composer's, in its order.
void CycleMetadata::write_opening() {
  const ClockPair pair = parts_.clock.read();
  const std::int64_t at_ns = parts_.clock.line().ns(pair.ticks);
  const std::uint32_t main_tid = parts_.main_tid;
  const Options& options = parts_.options;
  const std::string rank = std::to_string(options.rank);
  const std::string given = Registry::instance().thread_name(main_tid);
  const std::string main_name = given.empty() ? "Training Loop" : given;
  write("process_name", text_json("name", "Rank " + rank + " training loop process"), at_ns,
        main_tid);
  write("thread_name", text_json("name", main_name), at_ns, main_tid);
  write("thread_sort_index", R"({"sort_index":0})", at_ns, main_tid);
  write("global_rank", value_json(options.rank), at_ns, main_tid);
  write("process_sort_index", "{\"sort_index\":" + rank + "}", at_ns, main_tid);
  if (options.is_beside_rank) write("beside_rank", R"({"value":true})", at_ns, main_tid);
  write("host", host_json(), at_ns, main_tid);
  write("clock_source", text_json("value", parts_.status.status().clock), at_ns, main_tid);
  write("clock_pairs", pair_json(pair, "start"), at_ns, main_tid);
  write("ntp", ntp_json(), at_ns, main_tid);
  named_threads_.insert(main_tid);
}

void CycleMetadata::write_rounds(const SyncRounds& rounds, const char* group, bool with_value) {
  if (rounds.enter.empty()) return;
  const TimeLine& line = parts_.clock.line();
  const std::int64_t at_ns = line.ns(rounds.exit.back());
  if (with_value) {
    const SyncValue value = sync_value(rounds, line);
    write("clock_sync_timestamp_us", value_json(value.timestamp_us), at_ns, parts_.main_tid);
    write("clock_sync_error_bound", value_json(value.error_bound_us), at_ns, parts_.main_tid);
  }
  // Rounds of a rank that is alone say nothing of any other clock.
  if (parts_.options.barrier)
    write("clock_sync_rounds", rounds_json(rounds, line, group), at_ns, parts_.main_tid);
}

const EventThread& CycleMetadata::thread_of(const detail::ChunkHeader& chunk) {
  EventThread& thread = threads_[chunk.tid];
  if (named_threads_.insert(chunk.tid).second || thread.tid == 0) {
    thread.tid = chunk.tid;
    const std::string given = Registry::instance().thread_name(chunk.tid);
    thread.name = given.empty() ? chunk.thread_name : given;
    if (chunk.tid == parts_.main_tid && given.empty()) thread.name = "Training Loop";
    const TimeLine& line = parts_.clock.line();
    if (chunk.tid != parts_.main_tid)
      write("thread_name", text_json("name", thread.name), line.ns(line.last().ticks), chunk.tid);
  }
  return thread;
}

}  // namespace traceloom::record
