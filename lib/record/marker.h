// Marker, Scope, Counter: record what a program does that lasts, what happens in it, and values
// that change.
//
//   static const Marker forward("forward", "model");
//   { Scope scope(forward); loss = model(batch); }   // a duration
//   forward.instant();                               // a moment
//   static const Marker reduce("mpi:all_reduce", "comm", "bytes,dtype");
//   { ScopeWith scope(reduce, 1 << 20, "bf16"); ... }   // a duration with arguments
//   request.async_begin(id); request.async_end(id);  // a duration that others of it may overlap
//   static const Counter memory("memory", "mem", {"used", "free"});
//   memory.record(used, free);
//
// Each records under the actions of the schedule that it was made for, and nothing without a
// session. With TRACELOOM_DISABLE they are empty.
#pragma once

#include "record/position.h"
#include "record/slots.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace traceloom::record {

struct MarkerOptions {
  Actions actions = kWhileRecording;  // the actions under which it records
  bool instant_on_start = false;      // also record an instant of the same name at the start
  bool instant_on_finish = false;
  // Set this for a marker that lasts longer than a few batches: it is written when it begins and
  // again when it ends, so that the file of a killed run shows it. It takes twice the bytes.
  bool long_running = false;
  // The names of arguments, with commas between them: "bytes,dtype"; at most 8.
  const char* args = nullptr;
};

namespace detail {

// No action is a set of actions, too, and not the usual one.
inline std::uint32_t bits_for_c(Actions actions) noexcept {
  return actions.bits() == 0 ? TRACELOOM_NEVER : actions.bits();
}

// Without memory, the marker stays off.
inline Site* register_marker(const char* name, const char* categories,
                             const MarkerOptions& options) noexcept {
  unsigned flags = 0;
  if (options.instant_on_start) flags |= TRACELOOM_INSTANT_ON_START;
  if (options.instant_on_finish) flags |= TRACELOOM_INSTANT_ON_FINISH;
  if (options.long_running) flags |= TRACELOOM_LONG_RUNNING;
  Site* const made =
      traceloom_marker_with(name, categories, bits_for_c(options.actions), flags, options.args);
  return made == nullptr ? &traceloom_unregistered : made;
}

}  // namespace detail

#ifndef TRACELOOM_DISABLE
inline namespace enabled {

// A named place of the program that can last, or happen. Markers of equal name, categories and
// options are one in the trace. Several threads may use one marker at once, and a marker may be
// used within itself. Whether a use is recorded is decided when it starts.
class Marker {
 public:
  // Takes literals: both texts are read when the marker is first used, not before. Categories are
  // joined by ','. A static or global object costs nothing to construct.
  constexpr explicit Marker(const char* name, const char* categories = "",
                            MarkerOptions options = {})
      : name_(name), categories_(categories), options_(options) {}
  constexpr Marker(const char* name, const char* categories, const char* args)
      : name_(name), categories_(categories) {
    options_.args = args;
  }
  // Makes a marker whose name is made up while the program runs.
  static Marker of(const std::string& name, const std::string& categories = "",
                   MarkerOptions options = {}) {
    Marker marker("", "", options);
    marker.site_ = detail::register_marker(name.c_str(), categories.c_str(), options);
    return marker;
  }
  Marker(const Marker& other) noexcept
      : name_(other.name_),
        categories_(other.categories_),
        options_(other.options_),
        site_(other.site_.load(std::memory_order_acquire)) {}
  Marker& operator=(const Marker&) = delete;

  // These are a pair for where a Scope does not fit. Call both in the same thread; other pairs may
  // begin or end between them in any order. A finish() without its start() does nothing: the first
  // one of each marker is reported to Options::log, and all are counted in Session::status().
  void start() const noexcept { traceloom_start(&site()); }
  void finish() const noexcept { traceloom_finish(&site()); }

  template <typename... Values>
  void instant(const Values&... values) const noexcept {
    record([](auto... all) { traceloom_instant_with(all...); }, values...);
  }

  // Records a duration that the program has measured itself, such as that of a GPU, in the row of
  // this thread. Viewers nest what overlaps in a row: give the GPU's spans a thread of their own.
  template <typename... Values>
  void span(std::chrono::steady_clock::time_point begin, std::chrono::nanoseconds duration,
            const Values&... values) const noexcept {
    record(
        [&](detail::Site* at, const detail::Arg* args, std::size_t count) {
          traceloom_record_span(at, std::chrono::nanoseconds(begin.time_since_epoch()).count(),
                                duration.count(), args, count);
        },
        values...);
  }
  // A span that may begin in one thread and end in another, and overlap others of the marker: a
  // request. `id` is a number of its own among those of this marker that are open.
  template <typename... Values>
  void async_begin(std::uint64_t id, const Values&... values) const noexcept {
    record([id](detail::Site* at, const detail::Arg* args,
                std::size_t count) { traceloom_async_begin(at, id, args, count); },
           values...);
  }
  void async_end(std::uint64_t id) const noexcept {
    record([id](detail::Site* at, const auto&...) { traceloom_async_end(at, id); });
  }

  // Calls `function` within a Scope and returns its result.
  template <typename Function, typename... Args>
  decltype(auto) call(Function&& function, Args&&... args) const;
  // Returns a function that does the same whenever it is called. The marker must outlive it.
  template <typename Function>
  auto wrap(Function function) const {
    return [this, function = std::move(function)](auto&&... args) mutable -> decltype(auto) {
      return this->call(function, std::forward<decltype(args)>(args)...);
    };
  }

  detail::Site& site() const noexcept {
    detail::Site* at = site_.load(std::memory_order_acquire);
    return at != &traceloom_unregistered ? *at : registered();
  }

 private:
  template <typename Call, typename... Values>
  void record(const Call& call, const Values&... values) const noexcept {
    static_assert(sizeof...(values) <= detail::kMostArgs);
    detail::Site& at = site();
    if (at.mode.load(std::memory_order_relaxed) == detail::kOff) return;
    const detail::Arg args[] = {detail::arg_of(values)..., {}};
    call(&at, args, sizeof...(values));
  }
  detail::Site& registered() const noexcept {
    detail::Site* at = detail::register_marker(name_, categories_, options_);
    site_.store(at, std::memory_order_release);
    return *at;
  }

  const char* name_;
  const char* categories_;
  MarkerOptions options_;
  mutable std::atomic<detail::Site*> site_{&traceloom_unregistered};
};

// Records from here to the end of the block, or to finish(), also if an exception ends the block.
// It may end in another thread than it began in, and is shown in the one where it ends.
class Scope {
 public:
  explicit Scope(const Marker& marker) noexcept : span_(detail::begin(marker.site())) {}
  ~Scope() { detail::end(span_); }
  Scope(Scope&& other) noexcept : span_(std::exchange(other.span_, {})) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Arguments may be given, as to ScopeWith.
  template <typename... Values>
  void finish(const Values&... values) noexcept {
    const detail::Arg args[] = {detail::arg_of(values)..., {}};
    if constexpr (sizeof...(values) == 0)
      detail::end(span_);
    else
      traceloom_end_with(span_.site, {span_.begin_ticks, span_.position}, args, sizeof...(values));
    span_ = {};
  }
  // Cancels the scope: nothing is recorded. A long-running marker stays open.
  void abandon() noexcept { span_ = {}; }

 private:
  detail::OpenSpan span_;
};

// The same with a value for each argument of the marker: integers, floating numbers, or texts, of
// which 30 bytes count.
template <std::size_t Count>
class ScopeWith {
 public:
  template <typename... Values>
  explicit ScopeWith(const Marker& marker, const Values&... values) noexcept
      : args_{detail::arg_of(values)...}, span_(detail::begin(marker.site())) {
    static_assert(Count <= detail::kMostArgs);
  }
  ~ScopeWith() {
    traceloom_end_with(span_.site, {span_.begin_ticks, span_.position}, args_, Count);
  }
  ScopeWith(const ScopeWith&) = delete;
  ScopeWith& operator=(const ScopeWith&) = delete;

 private:
  detail::Arg args_[Count];
  detail::OpenSpan span_;
};
template <typename... Values>
ScopeWith(const Marker&, const Values&...) -> ScopeWith<sizeof...(Values)>;

template <typename Function, typename... Args>
decltype(auto) Marker::call(Function&& function, Args&&... args) const {
  const Scope scope(*this);
  return std::forward<Function>(function)(std::forward<Args>(args)...);
}

// Values that change over time. The trace shows one track, with one curve a key.
class Counter {
 public:
  // If there are more than 64 keys, the first 64 count. A key that stands twice gets its last
  // value, and the log gets a warning.
  Counter(const std::string& name, const std::string& categories,
          const std::vector<std::string>& keys, Actions actions = kWhileRecording) {
    std::vector<const char*> texts;
    for (const std::string& key : keys) texts.push_back(key.c_str());
    counter_ = traceloom_counter_new(name.c_str(), categories.c_str(), texts.data(), texts.size(),
                                     detail::bits_for_c(actions));
  }

  // Takes one value a key, in their order. Values that are no number (NaN, infinity) are left out
  // of the file. An event without any other value is not written at all and counts as lost
  // (Status::lost).
  template <typename... Values>
  void record(Values... values) const noexcept {
    static_assert((std::is_arithmetic_v<Values> && ...));
    const double all[] = {static_cast<double>(values)...};
    record_all(all, sizeof...(values));
  }
  void record_all(const double* values, std::size_t count) const noexcept {
    if (counter_ != nullptr && counter_->mode.load(std::memory_order_relaxed) != detail::kOff)
      traceloom_count(counter_, values, count);
  }

 private:
  traceloom_counter* counter_;
};

}  // namespace enabled
#else
inline namespace disabled {

class Marker {
 public:
  constexpr explicit Marker(const char* /*name*/, const char* /*categories*/ = "",
                            MarkerOptions /*options*/ = {}) {}
  static Marker of(const std::string& /*name*/, const std::string& /*categories*/ = "",
                   MarkerOptions /*options*/ = {}) {
    return Marker("");
  }
  void start() const noexcept {}
  void finish() const noexcept {}
  constexpr Marker(const char* /*name*/, const char* /*categories*/, const char* /*args*/) {}
  template <typename... Values>
  void instant(const Values&... /*values*/) const noexcept {}
  template <typename... Values>
  void span(const Values&... /*values*/) const noexcept {}
  template <typename... Values>
  void async_begin(std::uint64_t /*id*/, const Values&... /*values*/) const noexcept {}
  void async_end(std::uint64_t /*id*/) const noexcept {}
  template <typename Function, typename... Args>
  decltype(auto) call(Function&& function, Args&&... args) const {
    return std::forward<Function>(function)(std::forward<Args>(args)...);
  }
  template <typename Function>
  auto wrap(Function function) const {
    return function;
  }
};

class Scope {
 public:
  explicit Scope(const Marker& /*marker*/) noexcept {}
  ~Scope() {}  // not trivial, like the real one: no warning of an unused variable
  Scope(Scope&&) noexcept {}
  template <typename... Values>
  void finish(const Values&... /*values*/) noexcept {}
  void abandon() noexcept {}
};

class ScopeWith {
 public:
  template <typename... Values>
  explicit ScopeWith(const Marker& /*marker*/, const Values&... /*values*/) noexcept {}
  ~ScopeWith() {}
};

class Counter {
 public:
  Counter(const std::string& /*name*/, const std::string& /*categories*/,
          const std::vector<std::string>& /*keys*/, Actions /*actions*/ = kWhileRecording) {}
  template <typename... Values>
  void record(Values... /*values*/) const noexcept {}
  void record_all(const double* /*values*/, std::size_t /*count*/) const noexcept {}
};

}  // namespace disabled
#endif

}  // namespace traceloom::record
