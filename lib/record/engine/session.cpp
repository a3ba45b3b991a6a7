// The functions of traceloom.h for sessions.
#include "record/engine/engine.h"
#include "record/names/run_place.h"
#include "record/support/c_calls.h"
#include "record/support/process_support.h"

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

using namespace traceloom::record;

// A session as a program has it: one that was refused, or whose process was forked, does nothing.
struct traceloom_session {
  traceloom_session(const traceloom_options* options, bool& has_met)
      : engine_(std::make_shared<Engine>(SessionOptions(options), has_met)) {}

  // Makes a session that only follows the schedule and meets at the barrier: other ranks may be
  // there already, and wait for this one.
  traceloom_session(std::string refusal, const traceloom_options* given, Engine::HasMet has_met)
      : refusal_(std::move(refusal)) {
    guarded([&] {  // the first problem is reported
      SessionOptions options(given);
      tell(options.log_function(), refusal_ + "; nothing is recorded");
      if (options.barrier != nullptr) engine_ = std::make_shared<Engine>(options, has_met);
    });
    traceloom_set_last_error(refusal_.c_str());
  }

  ~traceloom_session() {
    if (engine_ == nullptr || engine_->is_of_this_process()) return;
    // The engine's thread does not exist here, and what it holds may be locked for ever.
    keep_forever(new (std::nothrow) std::shared_ptr<Engine>(std::move(engine_)));
  }
  traceloom_session(const traceloom_session&) = delete;
  traceloom_session& operator=(const traceloom_session&) = delete;

  // Returns nullptr in the child of a fork(), where nothing is done: the session belongs to the
  // parent.
  Engine* engine() const {
    return engine_ != nullptr && engine_->is_of_this_process() ? engine_.get() : nullptr;
  }

  bool is_open() const { return refusal_.empty() && engine() != nullptr && engine()->is_open(); }

  Status status() const {
    Status status;
    if (!refusal_.empty())
      status.last_error = refusal_;  // a session without files counts nothing
    else if (const Engine* const own = engine())
      status = own->status();
    return status;
  }

  void stop() const {
    if (engine_ != nullptr) engine_->close(Engine::UseBarrier::yes);
  }

  bool is_refused() const { return !refusal_.empty(); }

 private:
  std::string refusal_;
  std::shared_ptr<Engine> engine_;
};

namespace {

// Does nothing for NULL, and where there is no engine.
template <typename Work>
int with_engine(const traceloom_session* session, const Work& work) {
  return with(session, [&](const traceloom_session& own) {
    if (Engine* const engine = own.engine()) work(*engine);
  });
}

}  // namespace

int traceloom_place_from_environment(traceloom_options* options) {
  return with(options, [](traceloom_options& own) {
    traceloom_options all = complete(&own);
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
  bool has_met = false;
  return made([&] { return new traceloom_session(options, has_met); });
}

traceloom_session* traceloom_open_or_follow(const traceloom_options* options) {
  bool has_met = false;
  traceloom_session* const opened = made([&] { return new traceloom_session(options, has_met); });
  if (opened != nullptr) return opened;
  return made([&] {
    return new traceloom_session(traceloom_last_error(), options,
                                 has_met ? Engine::HasMet::yes : Engine::HasMet::no);
  });
}

int traceloom_is_open(const traceloom_session* session) {
  return session != nullptr && session->is_open() ? 1 : 0;
}

int traceloom_close(traceloom_session* session) {
  return with(session, [](traceloom_session& own) {
    if (is_session_calling())
      throw std::logic_error(
          "traceloom_close() was called in a handler or an on_saved of the session, which would "
          "wait for itself; the session is still open");
    const std::unique_ptr<traceloom_session> owned(&own);
    own.stop();
    if (const Status status = own.status(); status.lost > 0)
      throw std::runtime_error(std::to_string(status.lost) +
                               " events are lost: " + status.last_error);
  });
}

int traceloom_stop(traceloom_session* session) {
  return with(session, [](const traceloom_session& own) { own.stop(); });
}

void traceloom_free(traceloom_session* session) {
  if (is_session_calling()) return;
  const std::unique_ptr<traceloom_session> owned(session);
}

int traceloom_batch_begin(traceloom_session* session, const traceloom_position* at) {
  return with_engine(session, [&](Engine& engine) { engine.batch_begin(complete(at)); });
}

int traceloom_batch_end(traceloom_session* session, const traceloom_position* at) {
  return with_engine(session, [&](Engine& engine) { engine.batch_end(complete(at)); });
}

int traceloom_set_position(traceloom_session* session, const traceloom_position* at) {
  return with_engine(session, [&](Engine& engine) { engine.set_position(complete(at)); });
}

int traceloom_current_action(const traceloom_session* session) {
  if (session == nullptr) return kFailed;
  const Engine* const engine = session->engine();
  return engine == nullptr ? TRACELOOM_SKIP : static_cast<int>(engine->action());
}

int traceloom_record_chrome_json_trace_file(traceloom_session* session, const char* path) {
  return with_engine(session, [&](Engine& engine) {
    if (path == nullptr) throw std::invalid_argument("the path of the external trace is NULL");
    if (!session->is_refused()) engine.record_external_trace(path);
  });
}

int traceloom_flush(traceloom_session* session) {
  return with_engine(session, [](Engine& engine) { engine.flush(); });
}

int traceloom_wait_saved(traceloom_session* session, uint32_t timeout_ms) {
  bool is_saved = true;
  const int result =
      with_engine(session, [&](Engine& engine) { is_saved = engine.wait_saved(timeout_ms); });
  return result == 0 && is_saved ? 1 : 0;
}

int traceloom_saved_traces(const traceloom_session* session,
                           void (*tell)(void* arg, const traceloom_saved_trace* trace), void* arg) {
  return with_engine(session, [&](const Engine& engine) {
    if (tell == nullptr) throw std::invalid_argument("no function gets the saved traces");
    for (const SavedTrace& saved : engine.saved_traces()) tell_saved_trace(saved, tell, arg);
  });
}

int traceloom_get_status(const traceloom_session* session, traceloom_status* status) {
  if (status == nullptr) return 0;
  return with(session, [&](const traceloom_session& own) {
    check_size(status->size, "traceloom_status");
    const Status from = own.status();
    traceloom_status all{status->size, from.events,          from.dropped, from.lost, from.misuses,
                         from.bytes,   from.peak_pool_bytes, "",           ""};
    copy_text(from.clock, all.clock, sizeof all.clock);
    copy_text(from.last_error, all.last_error, sizeof all.last_error);
    give_back(all, *status);
  });
}
