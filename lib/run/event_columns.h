// EventColumns: the events that analyses look at, as rows of numbers; texts are in tables.
//
//   for (const DeviceSpan& span : columns.devices) busy.push_back(span.interval());
#pragma once

#include "base/string_table.h"
#include "run/event_class.h"
#include "run/intervals.h"
#include "run/samples.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// No correlation, external id, step, epoch or device is known.
inline constexpr std::int64_t kNoId = -1;
inline constexpr std::int32_t kNoEpoch = -1;

struct HostSpan {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t label;  // in Labels
  std::uint32_t track;  // in Tracks

  Interval interval() const { return {start_ns, end_ns}; }
};

// A call of the runtime; `correlation` is that of what it launched.
struct CallSpan : HostSpan {
  std::int64_t correlation;
  std::int64_t external;
};

struct DeviceSpan : HostSpan {
  std::int64_t correlation;
  std::int64_t external;
  std::int32_t device;   // of its own row when the event does not say
  std::int32_t stream;   // kNoId when the event does not say
  std::uint32_t detail;  // of Run::details; of collectives, and of all when asked for
};
inline constexpr std::uint32_t kNoDetail = ~std::uint32_t{0};

// An operator of torch. With WantedColumns::details these stand by themselves, else among `hosts`.
struct OperatorSpan : HostSpan {
  std::int64_t external;
  std::uint32_t arguments;  // of Run::details; of collectives, and of all when asked for
};

// A span that marks steps, or a part of them; it is a HostSpan as well, unless it is a step.
struct MarkedSpan : HostSpan {
  // Of a step, N of ProfilerStep#N; of a collective its External id; else the batch of Composer at
  // the begin of the span.
  std::int64_t number;
  std::int32_t epoch;  // of Composer
  SpanMark mark;
  bool is_merged;  // an X of Composer, which a merge has made of B and E: the batch is that of its
                   // end
};

// How many events have a phase, by its letter.
using PhaseCounts = std::array<std::uint64_t, 128>;

// What is gathered beside what every analysis needs.
struct WantedColumns {
  bool details = false;    // what all device work says, and operators with their External ids
  bool arguments = false;  // with details: the shapes and values that operators were called with
  bool frames = false;     // spans around others: Python's functions, steps, containers
  bool samples = false;    // counters and "[memory]" instants
};

struct EventColumns {
  std::vector<HostSpan> hosts;
  std::vector<OperatorSpan> operators;
  std::vector<HostSpan> frames;
  std::vector<CallSpan> calls;
  std::vector<DeviceSpan> devices;
  std::vector<MarkedSpan> marks;
  std::vector<MemorySample> memory;  // this and counters: when samples were asked for
  std::vector<CounterSample> counters;

  bool empty() const {
    return hosts.empty() && operators.empty() && frames.empty() && calls.empty() &&
           devices.empty() && marks.empty() && memory.empty() && counters.empty();
  }
  void shrink_to_fit() {
    hosts.shrink_to_fit();
    operators.shrink_to_fit();
    frames.shrink_to_fit();
    calls.shrink_to_fit();
    devices.shrink_to_fit();
    marks.shrink_to_fit();
  }
  void clear() {
    hosts.clear();
    operators.clear();
    frames.clear();
    calls.clear();
    devices.clear();
    marks.clear();
    memory.clear();
    counters.clear();
  }
};

// The different names and categories of events, with what they are. Not thread-safe.
class Labels {
 public:
  // Both as they are, not as they are escaped in a file.
  std::uint32_t intern(std::string_view name, std::string_view category);

  std::size_t size() const { return entries_.size(); }
  std::string_view name(std::uint32_t label) const { return texts_[entries_[label].name]; }
  std::string_view category(std::uint32_t label) const { return texts_[entries_[label].category]; }
  const EventClass& kind(std::uint32_t label) const { return entries_[label].kind; }

 private:
  struct Entry {
    std::uint32_t name;
    std::uint32_t category;
    EventClass kind;
  };

  StringTable texts_;
  StringTable pairs_;
  std::vector<Entry> entries_;
};

// The different rows (file, pid, tid) of events. Not thread-safe.
class Tracks {
 public:
  // pid and tid: canonical_id().
  std::uint32_t intern(std::size_t file, std::string_view pid, std::string_view tid);

  std::size_t size() const { return entries_.size(); }
  std::size_t file(std::uint32_t track) const { return entries_[track].file; }
  std::string_view pid(std::uint32_t track) const { return texts_[entries_[track].pid]; }
  std::string_view tid(std::uint32_t track) const { return texts_[entries_[track].tid]; }

 private:
  struct Entry {
    std::size_t file;
    std::uint32_t pid;
    std::uint32_t tid;
  };

  StringTable texts_;
  StringTable keys_;
  std::vector<Entry> entries_;
};

}  // namespace traceloom
