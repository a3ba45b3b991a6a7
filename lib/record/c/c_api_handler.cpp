#include "record/c/c_api_handler.h"

#include "record/c/c_api_support.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace traceloom::record {
namespace {

class CHandler : public TraceHandler {
 public:
  CHandler(const traceloom_handler& calls, std::size_t place) : calls_(calls), place_(place) {}

  void begin_cycle(const CycleInfo& cycle) override {
    const traceloom_cycle_info info = info_of(cycle);
    tell("begin_cycle", calls_.begin_cycle, &info);
  }

  void duration(const DurationEvent& from) override {
    const traceloom_duration_event event{sizeof event,
                                         from.label->id,
                                         from.label->name.c_str(),
                                         from.label->categories.c_str(),
                                         from.thread->name.c_str(),
                                         from.thread->tid,
                                         from.begin_ns,
                                         from.duration_ns,
                                         from.epoch,
                                         from.batch,
                                         static_cast<int>(from.part)};
    tell("duration", calls_.duration, &event);
  }

  void instant(const InstantEvent& from) override {
    const traceloom_instant_event event{sizeof event,
                                        from.label->id,
                                        from.label->name.c_str(),
                                        from.label->categories.c_str(),
                                        from.thread->name.c_str(),
                                        from.thread->tid,
                                        from.at_ns,
                                        from.epoch,
                                        from.batch};
    tell("instant", calls_.instant, &event);
  }

  void counter(const CounterEvent& from) override {
    const traceloom_counter_event event{sizeof event,
                                        from.label->id,
                                        from.label->name.c_str(),
                                        from.label->categories.c_str(),
                                        from.thread->name.c_str(),
                                        from.thread->tid,
                                        from.at_ns,
                                        keys_of(*from.label),
                                        from.values,
                                        from.value_count};
    tell("counter", calls_.counter, &event);
  }

  void metadata(const MetadataEvent& from) override {
    const std::string name(from.name);
    const std::string args(from.args_json);
    const traceloom_metadata_event event{sizeof event, name.c_str(), args.c_str(), from.tid,
                                         from.at_ns};
    tell("metadata", calls_.metadata, &event);
  }

  void external_trace(const std::string& path) override {
    tell("external_trace", calls_.external_trace, path.c_str());
  }

  void flush() override { tell("flush", calls_.flush); }

  void end_cycle(const CycleInfo& cycle) override {
    const traceloom_cycle_info info = info_of(cycle);
    tell("end_cycle", calls_.end_cycle, &info);
  }

 private:
  static traceloom_cycle_info info_of(const CycleInfo& cycle) {
    return {sizeof(traceloom_cycle_info), cycle.rank, cycle.number, cycle.path.c_str()};
  }

  // A C handler that returns an error is treated like a C++ handler that throws.
  template <typename Function, typename... Args>
  void tell(const char* name, Function* function, Args... args) const {
    if (function == nullptr) return;
    const int result = function(calls_.arg, args...);
    if (result != 0)
      throw std::runtime_error(fmt::format("handlers[{}]: {}() returned {}", place_, name, result));
  }

  const char* const* keys_of(const EventLabel& label) {
    if (label.id >= keys_.size()) keys_.resize(label.id + 1);
    std::vector<const char*>& keys = keys_[label.id];
    for (std::size_t i = keys.size(); i < label.key_count; ++i)
      keys.push_back(label.keys[i].c_str());
    return keys.data();
  }

  const traceloom_handler calls_;
  const std::size_t place_;
  // Index: label; the texts live as long as the process.
  std::vector<std::vector<const char*>> keys_;
};

}  // namespace

std::shared_ptr<TraceHandler> handler_of(const traceloom_handler* given, std::size_t place) {
  if (given == nullptr)
    throw std::invalid_argument(fmt::format("traceloom_options.handlers[{}] is NULL", place));
  return std::make_shared<CHandler>(
      complete(given, traceloom_handler TRACELOOM_HANDLER_INIT, "traceloom_handler"), place);
}

}  // namespace traceloom::record
