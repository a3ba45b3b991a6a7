// The functions of traceloom.h.
#include "base/problems.h"
#include "record/c/c_api_support.h"
#include "record/c/traceloom.h"
#include "record/engine/engine.h"
#include "record/host/host_recorder.h"
#include "record/host/memory_scope.h"
#include "record/names/run_place.h"
#include "record/recorder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace traceloom::record;

struct traceloom_session : Session {
  using Session::Session;
};

struct traceloom_host : HostRecorder {
  using HostRecorder::HostRecorder;
};

// It is shared with its scopes, which may end after the close.
struct traceloom_memory {
  std::shared_ptr<MemoryStats> stats;
};

struct traceloom_memory_scope {
  std::shared_ptr<MemoryStats> stats;
  MemoryScope scope;
};

namespace {

// It has no destructor: functions of atexit() and destructors of thread-local objects may fail,
// too.
thread_local std::array<char, 1024> last_error{};

// Copies as much as there is room for, without half a character at its end.
void copy_text(std::string_view from, char* to, std::size_t room) {
  std::size_t count = std::min(from.size(), room - 1);
  while (count < from.size() && count > 0 && (from[count] & 0xC0) == 0x80) --count;
  std::copy_n(from.data(), count, to);
  to[count] = '\0';
}

// Does nothing for NULL.
template <typename Object, typename Call>
int with(Object* object, const Call& call) {
  return guarded([&] {
    if (object != nullptr) call(*object);
  });
}

detail::Site* site_of(traceloom_marker* marker) {
  return reinterpret_cast<detail::Site*>(marker);
}

// Both languages have the same form of an argument.
const detail::Arg* args_of(const traceloom_arg* args) {
  static_assert(sizeof(traceloom_arg) == sizeof(detail::Arg));
  return reinterpret_cast<const detail::Arg*>(args);
}

void put(traceloom_marker* marker, detail::Kind kind, uint64_t value, const detail::Arg* first,
         const traceloom_arg* args, size_t count) {
  if (marker == nullptr || site_of(marker)->mode.load(std::memory_order_relaxed) == detail::kOff)
    return;
  detail::put_with(*site_of(marker), kind, value, first, args_of(args), count);
}

HostSamplerOptions host_options_of(const traceloom_host_options* given) {
  const traceloom_host_options from =
      complete(given, traceloom_host_options TRACELOOM_HOST_OPTIONS_INIT, "traceloom_host_options");
  HostSamplerOptions to;
  to.interval_ns = from.interval_ns;
  to.cpu = from.cpu != 0;
  to.memory = from.memory != 0;
  to.disk = from.disk != 0;
  to.network = from.network != 0;
  to.gpu = from.gpu != 0;
  to.process = from.process != 0;
  return to;
}

std::function<void(const MemorySnapshot&)> snapshot_sink(const traceloom_memory_options& from) {
  return [tell = from.on_snapshot, arg = from.on_snapshot_arg,
          counts = from.counters != 0](const MemorySnapshot& snapshot) {
    if (counts) memory_counters()(snapshot);
    if (tell == nullptr) return;
    std::vector<const char*> names;
    std::vector<std::int64_t> bytes;
    names.reserve(snapshot.bytes.size());
    bytes.reserve(snapshot.bytes.size());
    for (const auto& [name, value] : snapshot.bytes) {
      names.push_back(name.c_str());
      bytes.push_back(value);
    }
    const traceloom_memory_snapshot all{sizeof all,   snapshot.key.c_str(), snapshot.time_ns,
                                        snapshot.rss, snapshot.vms,         names.size(),
                                        names.data(), bytes.data()};
    tell(arg, &all);
  };
}

MemoryStatsOptions memory_options_of(const traceloom_memory_options* given) {
  const traceloom_memory_options from = complete(
      given, traceloom_memory_options TRACELOOM_MEMORY_OPTIONS_INIT, "traceloom_memory_options");
  MemoryStatsOptions to;
  to.path = text_or_empty(from.path);
  to.overwrite = from.overwrite != 0;
  to.rank = from.rank;
  to.warmup_iterations = from.warmup_iterations;
  if (from.max_iterations >= 0) to.max_iterations = from.max_iterations;
  if (from.counters != 0 || from.on_snapshot != nullptr) to.on_snapshot = snapshot_sink(from);
  return to;
}

}  // namespace

void traceloom::record::set_last_error(const char* text) noexcept {
  copy_text(text, last_error.data(), last_error.size());
}

extern "C" {

const char* traceloom_version(void) {
  return TRACELOOM_VERSION;
}

const char* traceloom_last_error(void) {
  return last_error.data();
}

int traceloom_place_from_environment(traceloom_options* options) {
  return with(options, [](traceloom_options& own) {
    traceloom_options all =
        complete(&own, traceloom_options TRACELOOM_OPTIONS_INIT, "traceloom_options");
    const RunPlace place = find_place({});
    all.rank = place.rank;
    all.local_rank = place.local_rank;
    all.node_rank = place.node_rank;
    all.world_size = place.world_size;
    all.local_world_size = place.local_world_size;
    give_back(all, own);
  });
}

traceloom_session* traceloom_open(const traceloom_options* options) {
  return made([&] { return new traceloom_session(options_of(options)); });
}

int traceloom_close(traceloom_session* session) {
  return with(session, [](traceloom_session& own) {
    if (is_session_calling())
      throw std::logic_error(
          "traceloom_close() was called in a handler or an on_saved of the session, which would "
          "wait for itself; the session is still open");
    const std::unique_ptr<traceloom_session> owned(&own);
    const Status status = own.close();
    if (status.lost > 0)
      throw std::runtime_error(std::to_string(status.lost) +
                               " events are lost: " + status.last_error);
  });
}

int traceloom_batch_begin(traceloom_session* session, const traceloom_position* at) {
  return with(session, [&](Session& own) { own.batch_begin(position_of(at)); });
}

int traceloom_batch_end(traceloom_session* session, const traceloom_position* at) {
  return with(session, [&](Session& own) { own.batch_end(position_of(at)); });
}

int traceloom_set_position(traceloom_session* session, const traceloom_position* at) {
  return with(session, [&](Session& own) { own.set_position(position_of(at)); });
}

int traceloom_current_action(const traceloom_session* session) {
  return session == nullptr ? kFailed : static_cast<int>(session->action());
}

int traceloom_record_chrome_json_trace_file(traceloom_session* session, const char* path) {
  return with(session, [&](Session& own) {
    if (path == nullptr) throw std::invalid_argument("the path of the external trace is NULL");
    own.record_chrome_json_trace_file(path);
  });
}

int traceloom_flush(traceloom_session* session) {
  return with(session, [](Session& own) { own.flush(); });
}

int traceloom_wait_saved(traceloom_session* session, uint32_t timeout_ms) {
  bool is_saved = true;
  const int result = with(session, [&](Session& own) { is_saved = own.wait_saved(timeout_ms); });
  return result == 0 && is_saved ? 1 : 0;
}

int traceloom_saved_traces(const traceloom_session* session,
                           void (*tell)(void* arg, const traceloom_saved_trace* trace), void* arg) {
  return with(session, [&](const Session& own) {
    if (tell == nullptr) throw std::invalid_argument("no function gets the saved traces");
    for (const SavedTrace& saved : own.saved_traces()) tell_saved_trace(saved, tell, arg);
  });
}

int traceloom_get_status(const traceloom_session* session, traceloom_status* status) {
  if (status == nullptr) return 0;
  return with(session, [&](const Session& own) {
    check_size(status->size, "traceloom_status");
    const Status from = own.status();
    traceloom_status all{status->size, from.events,          from.dropped, from.lost, from.misuses,
                         from.bytes,   from.peak_pool_bytes, "",           ""};
    copy_text(from.clock, all.clock, sizeof all.clock);
    copy_text(from.last_error, all.last_error, sizeof all.last_error);
    give_back(all, *status);
  });
}

traceloom_marker* traceloom_marker_new(const char* name, const char* categories, uint32_t actions,
                                       uint32_t flags) {
  return traceloom_marker_with(name, categories, actions, flags, nullptr);
}

traceloom_marker* traceloom_marker_with(const char* name, const char* categories, uint32_t actions,
                                        uint32_t flags, const char* args) {
  MarkerOptions options;
  options.args = args;
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

void traceloom_end_with(traceloom_marker* marker, traceloom_span span, const traceloom_arg* args,
                        size_t count) {
  if (marker != nullptr)
    detail::end_with({site_of(marker), span.begin, span.position}, args_of(args), count);
}

void traceloom_record_span(traceloom_marker* marker, int64_t begin_ns, int64_t duration_ns,
                           const traceloom_arg* args, size_t count) {
  const detail::Arg begin = detail::arg_of(begin_ns);
  put(marker, detail::Kind::measured, static_cast<uint64_t>(std::max<int64_t>(duration_ns, 0)),
      &begin, args, count);
}

void traceloom_async_begin(traceloom_marker* marker, uint64_t id, const traceloom_arg* args,
                           size_t count) {
  put(marker, detail::Kind::async_begin, id, nullptr, args, count);
}

void traceloom_async_end(traceloom_marker* marker, uint64_t id) {
  put(marker, detail::Kind::async_end, id, nullptr, nullptr, 0);
}

void traceloom_start(traceloom_marker* marker) {
  if (marker != nullptr) detail::push_open(*site_of(marker));
}

void traceloom_finish(traceloom_marker* marker) {
  if (marker != nullptr) detail::pop_open(*site_of(marker));
}

void traceloom_instant(traceloom_marker* marker) {
  put(marker, detail::Kind::instant, 0, nullptr, nullptr, 0);
}

traceloom_counter* traceloom_counter_new(const char* name, const char* categories,
                                         const char* const* keys, size_t key_count,
                                         uint32_t actions) {
  return made([&] {
    const std::string text = text_or_empty(name);
    if (keys == nullptr && key_count > 0)
      throw std::invalid_argument("counter '" + text + "': " + std::to_string(key_count) +
                                  " keys, but no pointer to them");
    std::vector<std::string> names;
    names.reserve(key_count);
    for (size_t i = 0; i < key_count; ++i) names.push_back(text_or_empty(keys[i]));
    return reinterpret_cast<traceloom_counter*>(
        detail::register_counter(text, text_or_empty(categories), names, actions_of(actions)));
  });
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

int traceloom_host_share(traceloom_host_options* options, const traceloom_options* place) {
  if (options == nullptr || place == nullptr) return 0;
  return guarded([&] {
    traceloom_host_options all = complete(
        options, traceloom_host_options TRACELOOM_HOST_OPTIONS_INIT, "traceloom_host_options");
    RunPlace of_this;
    of_this.local_rank =
        complete(place, traceloom_options TRACELOOM_OPTIONS_INIT, "traceloom_options").local_rank;
    const HostSamplerOptions share = host_options_for(of_this);
    all.cpu = share.cpu ? 1 : 0;
    all.memory = share.memory ? 1 : 0;
    all.disk = share.disk ? 1 : 0;
    all.network = share.network ? 1 : 0;
    all.gpu = share.gpu ? 1 : 0;
    all.process = share.process ? 1 : 0;
    give_back(all, *options);
  });
}

traceloom_host* traceloom_host_start(const traceloom_host_options* options) {
  return made([&] { return new traceloom_host(host_options_of(options)); });
}

const char* traceloom_host_missing(const traceloom_host* host, size_t i) {
  return host == nullptr || i >= host->missing().size() ? nullptr : host->missing()[i].c_str();
}

int traceloom_host_stop(traceloom_host* host) {
  return guarded([&] { const std::unique_ptr<traceloom_host> owned(host); });
}

traceloom_memory* traceloom_memory_open(const traceloom_memory_options* options) {
  return made([&] {
    return new traceloom_memory{std::make_shared<MemoryStats>(memory_options_of(options))};
  });
}

traceloom_memory_scope* traceloom_memory_begin(traceloom_memory* memory, const char* scope) {
  return made([&] {
    return memory == nullptr
               ? nullptr
               : new traceloom_memory_scope{memory->stats, {*memory->stats, text_or_empty(scope)}};
  });
}

int traceloom_memory_end(traceloom_memory_scope* scope) {
  return guarded([&] { const std::unique_ptr<traceloom_memory_scope> owned(scope); });
}

int traceloom_memory_add_bytes(traceloom_memory* memory, const char* counter, int64_t bytes) {
  return with(memory, [&](const traceloom_memory& own) {
    own.stats->add_bytes(text_or_empty(counter), bytes);
  });
}

int traceloom_memory_get_growth(const traceloom_memory* memory, const char* scope,
                                traceloom_memory_growth* growth) {
  if (growth == nullptr) return 0;
  return with(memory, [&](const traceloom_memory& own) {
    check_size(growth->size, "traceloom_memory_growth");
    traceloom_memory_growth all{};
    for (const MemoryGrowth& from : own.stats->growth())
      if (from.scope == text_or_empty(scope))
        all = {0, from.iterations, from.rss_sum, from.rss_min, from.rss_max, from.rss_last};
    all.size = growth->size;
    give_back(all, *growth);
  });
}

int traceloom_memory_flush(traceloom_memory* memory) {
  return with(memory, [](const traceloom_memory& own) { own.stats->flush(); });
}

int traceloom_memory_close(traceloom_memory* memory) {
  return with(memory, [](traceloom_memory& own) {
    const std::unique_ptr<traceloom_memory> owned(&own);
    if (const std::string problem = own.stats->error(); !problem.empty())
      throw std::runtime_error(problem);
  });
}

}  // extern "C"
