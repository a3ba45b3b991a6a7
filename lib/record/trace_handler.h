// TraceHandler: gets recorded events. The recorder's own JSON files are one handler; others stand
// next to it.
//
//   struct LongestBatch : traceloom::record::TraceHandler {
//     void duration(const DurationEvent& event) override {
//       if (event.label->name == "event/batch")
//         longest_ns = std::max(longest_ns, event.duration_ns);
//     }
//     std::int64_t longest_ns = 0;
//   };
//   options.handlers.push_back(std::make_shared<LongestBatch>());
//
// It needs nothing but the standard library (C++17).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace traceloom::record {

// Times are nanoseconds since 1970 on a clock that never steps back: the real time when the session
// began, and from there on CLOCK_MONOTONIC.

// The facts that events of one marker or counter share. They live as long as the process.
struct EventLabel {
  std::uint32_t id =
      0;  // 1, 2, 3, ... in order of first use: an index for what a handler keeps of it
  std::string name;
  std::string categories;             // joined by ','
  const std::string* keys = nullptr;  // of a counter's values, or of arguments
  std::size_t key_count = 0;
};

// The thread that recorded an event. It lives as long as the session.
struct EventThread {
  std::int64_t tid = 0;  // its id in the system
  std::string name;
};

enum class DurationPart : std::uint8_t {
  whole,  // begin and duration are known
  begin,  // a long-running marker has begun, its end comes later
  end,    // the end of one whose begin was handed over in this cycle; begin and duration are known
};

struct DurationEvent {
  const EventLabel* label = nullptr;
  const EventThread* thread = nullptr;
  DurationPart part = DurationPart::whole;
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;  // 0 in a DurationPart::begin
  std::uint32_t epoch = 0;       // where the training was when it began
  std::uint32_t batch = 0;
  // Set in a whole event of a long-running marker whose begin was handed over in an earlier cycle:
  // a number that stands for it in the files of both. 0 in all others.
  std::uint64_t cut_id = 0;
  std::string_view args_json = {};  // its arguments, {"bytes":1024}; "" without any
};

enum class InstantPart : std::uint8_t {
  moment,
  async_begin,  // an async span has begun, maybe in another thread than it ends in
  async_end,
};

struct InstantEvent {
  const EventLabel* label = nullptr;
  const EventThread* thread = nullptr;
  std::int64_t at_ns = 0;
  std::uint32_t epoch = 0;
  std::uint32_t batch = 0;
  InstantPart part = InstantPart::moment;
  std::uint64_t id = 0;  // of an async span: that of its other end, which has the same label
  std::string_view args_json = {};
};

struct CounterEvent {
  const EventLabel* label = nullptr;  // its keys name the values
  const EventThread* thread = nullptr;
  std::int64_t at_ns = 0;
  const double* values = nullptr;
  std::size_t value_count = 0;
};

// A fact about the file rather than a moment: names, rank, clocks.
struct MetadataEvent {
  std::string_view name;
  std::string_view args_json;  // an object: {"value":3}
  std::int64_t at_ns = 0;
  std::int64_t tid = 0;
};

// One profiling window of a rank.
struct CycleInfo {
  std::int64_t rank = 0;
  std::uint64_t number = 0;  // 0, 1, 2, ...
  // The file of the cycle. While the cycle is recorded, the file carries the name it had at its
  // beginning with ".unfinished" before ".json" (and a number, should another session take that
  // name first). From end_cycle() on this is its final name.
  std::string path;
};

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

 protected:
  TraceHandler() = default;
};

}  // namespace traceloom::record

#pragma GCC visibility pop
