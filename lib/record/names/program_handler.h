// ProgramHandler: a handler of the program, as the recorder calls it.
//
//   ProgramHandler handler(*options.handlers[0], 0);
//   handler.flush();        // throws "handlers[0]: flush() returned 1"
#pragma once

#include "record/trace_handler.h"

#include <cstddef>
#include <string>

namespace traceloom::record {

// A function that returns an error is treated like one that throws.
class ProgramHandler : public TraceHandler {
 public:
  // Throws std::invalid_argument for NULL, and for a struct without a size.
  ProgramHandler(const traceloom_handler* given, std::size_t place);

  void begin_cycle(const CycleInfo& cycle) override {
    tell("begin_cycle", calls_.begin_cycle, &cycle);
  }
  void duration(const DurationEvent& event) override { tell("duration", calls_.duration, &event); }
  void instant(const InstantEvent& event) override { tell("instant", calls_.instant, &event); }
  void counter(const CounterEvent& event) override { tell("counter", calls_.counter, &event); }
  void metadata(const MetadataEvent& event) override { tell("metadata", calls_.metadata, &event); }
  void external_trace(const std::string& path) override {
    tell("external_trace", calls_.external_trace, path.c_str());
  }
  void flush() override { tell("flush", calls_.flush); }
  void end_cycle(const CycleInfo& cycle) override { tell("end_cycle", calls_.end_cycle, &cycle); }

 private:
  [[noreturn]] void fail(const char* name, int result) const;

  template <typename Function, typename... Args>
  void tell(const char* name, Function* function, Args... args) const {
    if (function == nullptr) return;
    if (const int result = function(calls_.arg, args...); result != 0) fail(name, result);
  }

  traceloom_handler calls_;
  std::size_t place_;
};

}  // namespace traceloom::record
