// TraceHandler: gets recorded events. The recorder's own JSON files are one handler; others stand
// next to it.
//
//   struct LongestBatch : traceloom::record::TraceHandler {
//     void duration(const DurationEvent& event) override {
//       if (std::string_view(event.name) == "event/batch")
//         longest_ns = std::max(longest_ns, event.duration_ns);
//     }
//     std::int64_t longest_ns = 0;
//   };
//   options.handlers.push_back(std::make_shared<LongestBatch>());
//
// It needs nothing but the standard library (C++17).
#pragma once

#include "record/traceloom.h"

#include <string>

namespace traceloom::record {

// Events are those of traceloom.h, and valid during the call only. Times are nanoseconds since 1970
// on a clock that never steps back: the real time when the session began, and from there on
// CLOCK_MONOTONIC.
using CycleInfo = traceloom_cycle_info;  // one profiling window of a rank
using DurationEvent = traceloom_duration_event;
using InstantEvent = traceloom_instant_event;
using CounterEvent = traceloom_counter_event;
using MetadataEvent = traceloom_metadata_event;  // a fact about the file: names, rank, clocks

// Derive from this class to get events. One thread calls all functions, the recorder's writer, and
// never the threads that record. So a slow handler delays files and in the end fills the pool, but
// never the training. Events come in the order in which each thread recorded them; threads are
// interleaved by chunk. If a handler throws, it gets no more of the cycle, and Session::status()
// reports the exception.
class TraceHandler {
 public:
  virtual ~TraceHandler() = default;
  TraceHandler(const TraceHandler&) = delete;
  TraceHandler& operator=(const TraceHandler&) = delete;

  virtual void begin_cycle(const CycleInfo& /*cycle*/) {}
  virtual void duration(const DurationEvent& /*event*/) {}
  virtual void instant(const InstantEvent& /*event*/) {}
  virtual void counter(const CounterEvent& /*event*/) {}
  virtual void metadata(const MetadataEvent& /*event*/) {}
  // Gets a Chrome JSON trace that another profiler wrote (Session::record_chrome_json_trace_file).
  virtual void external_trace(const std::string& /*path*/) {}
  // Called when all that was handed over so far ought to survive the end of the process.
  virtual void flush() {}
  virtual void end_cycle(const CycleInfo& /*cycle*/) {}

  // Returns the same for C, for as long as this lives. Exceptions pass.
  const traceloom_handler* for_c() const { return &calls_; }

 protected:
  TraceHandler() {
    calls_.arg = this;
    calls_.begin_cycle = call<&TraceHandler::begin_cycle>;
    calls_.duration = call<&TraceHandler::duration>;
    calls_.instant = call<&TraceHandler::instant>;
    calls_.counter = call<&TraceHandler::counter>;
    calls_.metadata = call<&TraceHandler::metadata>;
    calls_.external_trace = [](void* own, const char* path) {
      static_cast<TraceHandler*>(own)->external_trace(path);
      return 0;
    };
    calls_.flush = [](void* own) {
      static_cast<TraceHandler*>(own)->flush();
      return 0;
    };
    calls_.end_cycle = call<&TraceHandler::end_cycle>;
  }

 private:
  template <auto Take, typename Event>
  static int call(void* own, const Event* event) {
    (static_cast<TraceHandler*>(own)->*Take)(*event);
    return 0;
  }

  traceloom_handler calls_ = TRACELOOM_HANDLER_INIT;
};

}  // namespace traceloom::record
