#include "record/c/c_api_support.h"

#include "record/names/schedule.h"
#include "record/names/session_place.h"
#include "record/trace_handler.h"

#include <fmt/format.h>

#include <memory>
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
    auto event = event_of<traceloom_duration_event>(from);
    event.begin_ns = from.begin_ns;
    event.duration_ns = from.duration_ns;
    event.epoch = from.epoch;
    event.batch = from.batch;
    event.part = static_cast<int>(from.part);
    const std::string args(from.args_json);
    event.args_json = args.c_str();
    tell("duration", calls_.duration, &event);
  }

  void instant(const InstantEvent& from) override {
    auto event = event_of<traceloom_instant_event>(from);
    event.at_ns = from.at_ns;
    event.epoch = from.epoch;
    event.batch = from.batch;
    event.part = static_cast<int>(from.part);
    event.id = from.id;
    const std::string args(from.args_json);
    event.args_json = args.c_str();
    tell("instant", calls_.instant, &event);
  }

  void counter(const CounterEvent& from) override {
    auto event = event_of<traceloom_counter_event>(from);
    event.at_ns = from.at_ns;
    event.keys = keys_of(*from.label);
    event.values = from.values;
    event.count = from.value_count;
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
  // Fills in what events of all kinds have.
  template <typename Event>
  static Event event_of(const auto& from) {
    Event event{};
    event.size = sizeof event;
    event.label = from.label->id;
    event.name = from.label->name.c_str();
    event.categories = from.label->categories.c_str();
    event.thread_name = from.thread->name.c_str();
    event.tid = from.thread->tid;
    return event;
  }

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

std::shared_ptr<TraceHandler> handler_of(const traceloom_handler* given, std::size_t place) {
  if (given == nullptr)
    throw std::invalid_argument(fmt::format("traceloom_options.handlers[{}] is NULL", place));
  return std::make_shared<CHandler>(
      complete(given, traceloom_handler TRACELOOM_HANDLER_INIT, "traceloom_handler"), place);
}

Action action_of(int number) {
  return number < TRACELOOM_SKIP || number > TRACELOOM_ACTIVE_AND_SAVE
             ? Action::skip
             : static_cast<Action>(number);
}

CyclicSchedule cycle_of(const void* given) {
  const traceloom_cycle from = complete(static_cast<const traceloom_cycle*>(given),
                                        traceloom_cycle TRACELOOM_CYCLE_INIT, "traceloom_cycle");
  CyclicSchedule to{from.skip_first, from.wait,   from.warmup,
                    from.active,     from.repeat, from.resumed_at};
  if (from.resumed_epoch >= 0) to.resumed_epoch = from.resumed_epoch;
  return to;
}

void set_names(const traceloom_options& from, Options& to) {
  if (from.folder != nullptr) to.folder = from.folder;
  if (from.journal_folder != nullptr) to.journal_folder = from.journal_folder;
  if (from.file_name == nullptr) return;
  to.file_name = [name = NameTemplate(from.file_name), run = identity_of(to)](const Position& at) {
    return name.expand(run, at);
  };
}

void set_saved(const traceloom_options& from, Options& to) {
  if (from.on_saved == nullptr && from.on_saved_trace == nullptr) return;
  to.on_saved = [on_saved = from.on_saved, arg = from.on_saved_arg, tell = from.on_saved_trace,
                 tell_arg = from.on_saved_trace_arg](const SavedTrace& saved) {
    const auto tell_path = [&] {
      if (on_saved != nullptr) on_saved(arg, saved.path.c_str(), saved.events, saved.dropped);
    };
    // The second call is made in any case: a merge per node must know each trace.
    call_both(tell_path, [&] {
      if (tell != nullptr) tell_saved_trace(saved, tell, tell_arg);
    });
  };
}

void set_callbacks(const traceloom_options& from, Options& to) {
  if (from.schedule == traceloom_cyclic_schedule && from.schedule_arg != nullptr)
    to.schedule = cyclic_schedule(cycle_of(from.schedule_arg));
  else if (from.schedule != nullptr)
    to.schedule = [schedule = from.schedule, arg = from.schedule_arg](const Position& at) {
      const traceloom_position position = position_for_c(at);
      return action_of(schedule(arg, &position));
    };
  if (from.barrier != nullptr)
    to.barrier = [barrier = from.barrier, arg = from.barrier_arg] { barrier(arg); };
  if (from.log != nullptr)
    to.log = [log = from.log, arg = from.log_arg](const std::string& line) {
      log(arg, line.c_str());
    };
  set_saved(from, to);
}

void set_handlers(const traceloom_options& from, Options& to) {
  if (from.handlers == nullptr && from.handler_count > 0)
    throw std::invalid_argument(
        fmt::format("traceloom_options: {} handlers, but no pointer to them", from.handler_count));
  to.handlers.reserve(from.handler_count);
  for (std::size_t i = 0; i < from.handler_count; ++i)
    to.handlers.push_back(handler_of(from.handlers[i], i));
}

// Both languages have the values of an enum in one order.
int checked(const char* name, int value, int most) {
  if (value < 0 || value > most)
    throw std::invalid_argument(
        fmt::format("traceloom_options.{} {} is not from 0 to {}", name, value, most));
  return value;
}

}  // namespace

void tell_saved_trace(const SavedTrace& saved, TellSavedTrace* tell, void* arg) {
  const traceloom_position at = position_for_c(saved.position);
  const traceloom_saved_trace trace{sizeof trace, &at, saved.path.c_str(), saved.events,
                                    saved.dropped};
  tell(arg, &trace);
}

Position position_of(const traceloom_position* given) {
  const traceloom_position from =
      complete(given, traceloom_position TRACELOOM_POSITION_INIT, "traceloom_position");
  Position to;
  to.epoch = from.epoch;
  to.batch = from.batch;
  to.batch_in_epoch = from.batch_in_epoch;
  to.sample = from.sample;
  to.sample_in_epoch = from.sample_in_epoch;
  to.token = from.token;
  to.token_in_epoch = from.token_in_epoch;
  to.total_wct = from.total_wct;
  to.epoch_wct = from.epoch_wct;
  to.batch_wct = from.batch_wct;
  if (from.epoch_batches >= 0) to.epoch_batches = static_cast<std::uint64_t>(from.epoch_batches);
  return to;
}

traceloom_position position_for_c(const Position& from) {
  return {sizeof(traceloom_position),
          from.epoch,
          from.batch,
          from.batch_in_epoch,
          from.sample,
          from.sample_in_epoch,
          from.token,
          from.token_in_epoch,
          from.total_wct,
          from.epoch_wct,
          from.batch_wct,
          from.epoch_batches ? static_cast<std::int64_t>(*from.epoch_batches) : -1};
}

Actions actions_of(std::uint32_t bits) {
  if (bits == 0) return kWhileRecording;
  Actions all;
  for (const Action action :
       {Action::skip, Action::warmup, Action::active, Action::active_and_save})
    if ((bits & TRACELOOM_IN(static_cast<unsigned>(action))) != 0) all = all.with(action);
  return all;
}

Options options_of(const traceloom_options* given) {
  const traceloom_options from =
      complete(given, traceloom_options TRACELOOM_OPTIONS_INIT, "traceloom_options");
  Options to;
  to.rank = from.rank;
  to.local_rank = from.local_rank;
  to.node_rank = from.node_rank;
  to.world_size = from.world_size;
  to.local_world_size = from.local_world_size;
  to.is_beside_rank = from.is_beside_rank != 0;
  to.gzip_level = from.gzip_level == 0 ? 1 : from.gzip_level;
  to.overwrite = from.overwrite != 0;
  to.num_traces_to_keep = from.num_traces_to_keep;
  to.sync_rounds = from.sync_rounds;
  to.sync_at_end = from.sync_at_end != 0;
  to.pool_bytes = from.pool_bytes;
  to.max_pool_bytes = from.max_pool_bytes;
  to.when_full = static_cast<WhenFull>(checked("when_full", from.when_full, TRACELOOM_BLOCK));
  to.block_ms = from.block_ms;
  to.flush_ms = from.flush_ms;
  to.write_json = from.write_json != 0;
  to.clock = static_cast<ClockChoice>(checked("clock", from.clock, TRACELOOM_CLOCK_TSC));
  to.start = position_of(from.start);
  set_handlers(from, to);
  set_names(from, to);
  set_callbacks(from, to);
  return to;
}

}  // namespace traceloom::record

using namespace traceloom::record;

int traceloom_cyclic_schedule(void* cycle, const traceloom_position* at) {
  int action = TRACELOOM_SKIP;
  guarded([&] {
    if (cycle != nullptr) action = static_cast<int>(action_at(cycle_of(cycle), position_of(at)));
  });
  return action;
}
