#include "record/name_template.h"
#include "record/recorder.h"
#include "record/run_place.h"
#include "record/schedule.h"
#include "record/traceloom.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom::record;

struct traceloom_session {
  explicit traceloom_session(Options options) : session(std::move(options)) {}
  Session session;
};

namespace {

constexpr int kFailed = -1;

std::string& last_error() {
  thread_local std::string text;
  return text;
}

// No exception leaves the library.
template <typename Work>
int guarded(const Work& work) noexcept {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    last_error() = error.what();
  } catch (...) {
    last_error() = "unknown error";
  }
  return kFailed;
}

// Structs grow at their ends: what the caller's does not have yet stays as in `defaults`.
template <typename Struct>
Struct complete(const Struct& given, const Struct& defaults) {
  Struct all = defaults;
  std::memcpy(&all, &given, std::min<std::size_t>(given.size, sizeof all));
  return all;
}

Position position_of(const traceloom_position* given) {
  if (given == nullptr) return {};
  const traceloom_position from = complete(*given, traceloom_position TRACELOOM_POSITION_INIT);
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

Action action_of(int number) {
  return number < TRACELOOM_SKIP || number > TRACELOOM_ACTIVE_AND_SAVE
             ? Action::skip
             : static_cast<Action>(number);
}

Actions actions_of(std::uint32_t bits) {
  if (bits == 0) return kWhileRecording;
  Actions all;
  for (const Action action :
       {Action::skip, Action::warmup, Action::active, Action::active_and_save})
    if ((bits & TRACELOOM_IN(static_cast<unsigned>(action))) != 0) all = all.with(action);
  return all;
}

CyclicSchedule cycle_of(const void* given) {
  const traceloom_cycle from =
      complete(*static_cast<const traceloom_cycle*>(given), traceloom_cycle TRACELOOM_CYCLE_INIT);
  CyclicSchedule to{from.skip_first, from.wait,   from.warmup,
                    from.active,     from.repeat, from.resumed_at};
  if (from.resumed_epoch >= 0) to.resumed_epoch = from.resumed_epoch;
  return to;
}

void set_names(const traceloom_options& from, Options& to) {
  const RunIdentity run{
      default_run_name(),
      {from.rank, from.local_rank, from.world_size, from.local_world_size, from.node_rank}};
  if (from.folder != nullptr) to.folder = NameTemplate(from.folder).expand(run);
  if (from.journal_folder != nullptr) to.journal_folder = from.journal_folder;
  if (from.file_name == nullptr) return;
  to.file_name = [name = NameTemplate(from.file_name), run](const Position& at) {
    return name.expand(run, at);
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
  if (from.on_saved != nullptr)
    to.on_saved = [on_saved = from.on_saved, arg = from.on_saved_arg](const SavedTrace& trace) {
      on_saved(arg, trace.path.c_str(), trace.events, trace.dropped);
    };
}

Options options_of(const traceloom_options* given) {
  const traceloom_options defaults = TRACELOOM_OPTIONS_INIT;
  const traceloom_options from = given == nullptr ? defaults : complete(*given, defaults);
  Options to;
  to.rank = from.rank;
  to.local_rank = from.local_rank;
  to.node_rank = from.node_rank;
  to.world_size = from.world_size;
  to.local_world_size = from.local_world_size;
  to.gzip_level = from.gzip_level == 0 ? 1 : from.gzip_level;
  to.overwrite = from.overwrite != 0;
  to.num_traces_to_keep = from.num_traces_to_keep;
  to.sync_rounds = from.sync_rounds;
  to.sync_at_end = from.sync_at_end != 0;
  to.pool_bytes = from.pool_bytes;
  to.max_pool_bytes = from.max_pool_bytes;
  to.when_full = from.when_full == TRACELOOM_RING    ? WhenFull::ring
                 : from.when_full == TRACELOOM_BLOCK ? WhenFull::block
                                                     : WhenFull::drop;
  to.block_ms = from.block_ms;
  to.flush_ms = from.flush_ms;
  set_names(from, to);
  set_callbacks(from, to);
  return to;
}

detail::Site* site_of(traceloom_marker* marker) {
  return reinterpret_cast<detail::Site*>(marker);
}

}  // namespace

extern "C" {

const char* traceloom_version(void) {
  return TRACELOOM_VERSION;
}

const char* traceloom_last_error(void) {
  return last_error().c_str();
}

int traceloom_place_from_environment(traceloom_options* options) {
  return guarded([&] {
    if (options == nullptr) return;
    const RunPlace place = find_place({});
    options->rank = place.rank;
    options->local_rank = place.local_rank;
    options->node_rank = place.node_rank;
    options->world_size = place.world_size;
    options->local_world_size = place.local_world_size;
  });
}

int traceloom_cyclic_schedule(void* cycle, const traceloom_position* at) {
  int action = TRACELOOM_SKIP;
  guarded([&] {
    if (cycle != nullptr) action = static_cast<int>(action_at(cycle_of(cycle), position_of(at)));
  });
  return action;
}

traceloom_session* traceloom_open(const traceloom_options* options) {
  traceloom_session* session = nullptr;
  guarded([&] { session = new traceloom_session(options_of(options)); });
  return session;
}

int traceloom_close(traceloom_session* session) {
  if (session == nullptr) return 0;
  const std::unique_ptr<traceloom_session> owned(session);
  return guarded([&] { owned->session.close(); });
}

int traceloom_batch_begin(traceloom_session* session, const traceloom_position* at) {
  return guarded([&] {
    if (session != nullptr) session->session.batch_begin(position_of(at));
  });
}

int traceloom_batch_end(traceloom_session* session, const traceloom_position* at) {
  return guarded([&] {
    if (session != nullptr) session->session.batch_end(position_of(at));
  });
}

int traceloom_set_position(traceloom_session* session, const traceloom_position* at) {
  return guarded([&] {
    if (session != nullptr) session->session.set_position(position_of(at));
  });
}

int traceloom_current_action(const traceloom_session* session) {
  return session == nullptr ? kFailed : static_cast<int>(session->session.action());
}

int traceloom_record_chrome_json_trace_file(traceloom_session* session, const char* path) {
  return guarded([&] {
    if (session != nullptr && path != nullptr) session->session.record_chrome_json_trace_file(path);
  });
}

int traceloom_flush(traceloom_session* session) {
  return guarded([&] {
    if (session != nullptr) session->session.flush();
  });
}

int traceloom_wait_saved(traceloom_session* session, uint32_t timeout_ms) {
  bool is_saved = true;
  const int result = guarded([&] {
    if (session != nullptr) is_saved = session->session.wait_saved(timeout_ms);
  });
  return result == 0 && is_saved ? 1 : 0;
}

int traceloom_get_status(const traceloom_session* session, traceloom_status* status) {
  if (session == nullptr || status == nullptr) return 0;
  return guarded([&] {
    const Status from = session->session.status();
    const traceloom_status all{status->size, from.events, from.dropped,        from.lost,
                               from.misuses, from.bytes,  from.peak_pool_bytes};
    std::memcpy(status, &all, std::min<std::size_t>(status->size, sizeof all));
  });
}

traceloom_marker* traceloom_marker_new(const char* name, const char* categories, uint32_t actions,
                                       uint32_t flags) {
  MarkerOptions options;
  options.actions = actions_of(actions);
  options.instant_on_start = (flags & TRACELOOM_INSTANT_ON_START) != 0;
  options.instant_on_finish = (flags & TRACELOOM_INSTANT_ON_FINISH) != 0;
  options.long_running = (flags & TRACELOOM_LONG_RUNNING) != 0;
  return reinterpret_cast<traceloom_marker*>(detail::register_marker(
      name == nullptr ? "" : name, categories == nullptr ? "" : categories, options));
}

traceloom_span traceloom_begin(traceloom_marker* marker) {
  const detail::OpenSpan span =
      marker == nullptr ? detail::OpenSpan{} : detail::begin(*site_of(marker));
  return {span.begin_ticks, span.position};
}

void traceloom_end(traceloom_marker* marker, traceloom_span span) {
  if (marker != nullptr) detail::end({site_of(marker), span.begin, span.position});
}

void traceloom_start(traceloom_marker* marker) {
  if (marker != nullptr) detail::push_open(*site_of(marker));
}

void traceloom_finish(traceloom_marker* marker) {
  if (marker != nullptr) detail::pop_open(*site_of(marker));
}

void traceloom_instant(traceloom_marker* marker) {
  if (marker == nullptr) return;
  detail::Site& site = *site_of(marker);
  if (site.mode.load(std::memory_order_relaxed) != detail::kOff) detail::put_instant(site);
}

traceloom_counter* traceloom_counter_new(const char* name, const char* categories,
                                         const char* const* keys, size_t key_count,
                                         uint32_t actions) {
  detail::Site* site = nullptr;
  guarded([&] {
    const std::string text = name == nullptr ? "" : name;
    if (keys == nullptr && key_count > 0)
      throw std::invalid_argument("counter '" + text + "': " + std::to_string(key_count) +
                                  " keys, but no pointer to them");
    std::vector<std::string> names;
    names.reserve(key_count);
    for (size_t i = 0; i < key_count; ++i) names.emplace_back(keys[i] == nullptr ? "" : keys[i]);
    site = detail::register_counter(text, categories == nullptr ? "" : categories, names,
                                    actions_of(actions));
  });
  return reinterpret_cast<traceloom_counter*>(site);
}

void traceloom_count(traceloom_counter* counter, const double* values, size_t count) {
  if (counter == nullptr || values == nullptr) return;
  detail::Site& site = *reinterpret_cast<detail::Site*>(counter);
  if (site.mode.load(std::memory_order_relaxed) != detail::kOff)
    detail::put_counter(site, values, count);
}

void traceloom_set_thread_name(const char* name) {
  if (name != nullptr) guarded([&] { set_thread_name(name); });
}

}  // extern "C"
