// The embedded recorder: markers, counters and a session that writes what they record as one Chrome
// JSON trace per rank and profiling cycle. This header is all a program includes; it needs the
// standard library only (C++17).
//
//   using namespace traceloom::record;
//   Options options;
//   options.rank = rank;
//   options.schedule = [](const Position& at) {
//     return at.batch < 5 ? Action::active : Action::skip;
//   };
//   Session session(options);
//   static const Marker forward("forward", "model"), loading("event/dataloader");
//   for (auto& batch : timed(loader, loading)) {
//     session.batch_begin(position);
//     { Scope scope(forward); loss = model(batch); }
//     position.batch++;
//     session.batch_end(position);
//   }
//
// Costs: a recorded Scope is two reads of the clock and a store of 32 bytes (no lock, allocation or
// system call); one that is not recorded is two loads. With TRACELOOM_DISABLE defined before this
// header, markers, scopes and counters are empty.
//
// Everything here may be used by any thread unless it says otherwise. Nothing but the constructor
// of Session throws because of what happens to a trace: training goes on, and Session::status()
// tells. A signal's handler may record, too, but what it records while its thread is recording may
// be lost without being counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <time.h>
#include <type_traits>
#include <utility>
#include <vector>

namespace traceloom::record {
class Engine;  // what is behind a Session
}

#pragma GCC visibility push(default)  // all of this is what the shared library has to offer

namespace traceloom::record {

class TraceHandler;  // trace_handler.h

// ---- What is to be recorded when --------------------------------------------------------------

// What the schedule wants for a batch.
enum class Action : std::uint8_t { skip, warmup, active, active_and_save };
const char* to_string(Action action);  // "SKIP", "WARMUP", "ACTIVE", "ACTIVE_AND_SAVE"

// Where the training is: counts of what has been completed, as Composer counts them.
struct Position {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;  // of the whole run
  std::uint64_t batch_in_epoch = 0;
  std::uint64_t sample = 0;
  std::uint64_t sample_in_epoch = 0;
  std::uint64_t token = 0;
  std::uint64_t token_in_epoch = 0;
  double total_wct = 0;  // wall-clock seconds
  double epoch_wct = 0;
  double batch_wct = 0;
  std::optional<std::uint64_t> epoch_batches;  // how many batches an epoch has, where that is known
};

// Must give the same answer for the same position; asked by batch_begin(), batch_end() and
// set_position(), never where events are recorded.
using Schedule = std::function<Action(const Position&)>;

// A set of actions.
class Actions {
 public:
  constexpr Actions() = default;
  constexpr Actions(std::initializer_list<Action> actions) {
    for (const Action action : actions) bits_ |= bit(action);
  }
  constexpr bool contains(Action action) const { return (bits_ & bit(action)) != 0; }
  constexpr Actions with(Action action) const {
    Actions more = *this;
    more.bits_ |= bit(action);
    return more;
  }
  constexpr bool operator==(const Actions& other) const { return bits_ == other.bits_; }

 private:
  static constexpr unsigned bit(Action action) { return 1U << static_cast<unsigned>(action); }
  unsigned bits_ = 0;
};
inline constexpr Actions kWhileRecording{Action::warmup, Action::active, Action::active_and_save};

struct MarkerOptions {
  Actions actions = kWhileRecording;  // under which it records
  bool instant_on_start = false;      // an instant of the same name where it starts, or finishes
  bool instant_on_finish = false;
  // For what lasts longer than a few batches: it is written when it begins and again when it ends,
  // so that the file of a killed run shows it. Twice the bytes.
  bool long_running = false;
};

// ---- What the inline parts need; not for use ---------------------------------------------------

namespace detail {

inline constexpr std::uint32_t kOff = 0;
inline constexpr std::uint32_t kInline = 1;
inline constexpr std::uint32_t kOutOfLine =
    2;  // of a rare kind, or without the processor's counter

struct Site {
  std::atomic<std::uint32_t> mode{kOff};
  std::uint32_t id = 0;
  std::atomic<bool> is_inline{false};  // also while it is off: for those that began before
};
extern Site unregistered_site;

enum class Kind : std::uint8_t { none, whole, begin, end, instant, counter };

// One event as a thread leaves it for the writer.
struct Slot {
  std::uint64_t time;   // ticks
  std::uint64_t value;  // ticks that it lasted; of a counter the first value
  std::uint64_t extra;  // position; of a counter the second value
  std::uint32_t site;
  Kind kind;
  std::uint8_t value_count;  // of a counter
  std::uint16_t more_slots;  // that follow and belong to it
};
static_assert(sizeof(Slot) == 32);

inline constexpr std::size_t kChunkBytes = 65536;
inline constexpr std::uint32_t kChunkSlots = kChunkBytes / sizeof(Slot) - 2;

// In front of the slots that one thread fills. Zero bytes are a free chunk.
struct alignas(64) ChunkHeader {
  std::atomic<std::uint32_t>
      committed;  // slots that the writer may read; the owner alone changes it
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> written;  // slots that are in the file
  std::uint32_t tid;
  std::uint64_t sequence;
  char thread_name[16];
  std::uint32_t followers;           // slots so far that belong to the one before: Slot::more_slots
  std::atomic<std::uint32_t> limit;  // slots for its owner; 0 when its session has been closed

  Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
};
static_assert(sizeof(ChunkHeader) == 64);

// Never null; one that is full where a thread has none. The model costs 3 ns less an event within a
// shared library, and eight bytes of what the loader sets aside for libraries that come late.
extern __thread ChunkHeader* this_chunk __attribute__((tls_model("initial-exec")));
extern std::atomic<bool> clock_is_tsc;
extern std::atomic<std::uint64_t> position;  // epoch << 32 | batch

// A chunk with room for `slots`, now this_chunk; nullptr when the event has to be dropped.
ChunkHeader* next_chunk(std::uint32_t slots) noexcept;

// Only where clock_is_tsc.
inline std::uint64_t read_counter() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

inline std::uint64_t now() noexcept {
  if (clock_is_tsc.load(std::memory_order_relaxed)) return read_counter();
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

inline void put(const Slot& slot) noexcept {
  ChunkHeader* chunk = this_chunk;
  std::uint32_t count = chunk->committed.load(std::memory_order_relaxed);
  if (count >= chunk->limit.load(std::memory_order_relaxed)) {
    chunk = next_chunk(1);
    if (chunk == nullptr) return;
    count = chunk->committed.load(std::memory_order_relaxed);
  }
  chunk->slots()[count] = slot;
  chunk->committed.store(count + 1, std::memory_order_release);
}

// A duration that has begun; not recorded when begin_ticks is 0.
struct OpenSpan {
  const Site* site = nullptr;
  std::uint64_t begin_ticks = 0;
  std::uint64_t position = 0;
};

Site* register_marker(const char* name, const char* categories,
                      const MarkerOptions& options) noexcept;
// Numbers and not an OpenSpan, which would have to lie in memory for them.
std::uint64_t begin_out_of_line(Site& site, std::uint64_t at) noexcept;
void end_out_of_line(const Site& site, std::uint64_t begin_ticks, std::uint64_t at) noexcept;
void push_open(Site& site) noexcept;  // start() and finish()
void pop_open(Site& site) noexcept;
void put_instant(Site& site) noexcept;
Site* register_counter(const std::string& name, const std::string& categories,
                       const std::vector<std::string>& keys, Actions actions);
void put_counter(Site& site, const double* values, std::size_t count) noexcept;

// By value throughout, so that a span stays in registers.
inline OpenSpan begin(Site& site) noexcept {
  const std::uint32_t mode = site.mode.load(std::memory_order_relaxed);
  if (mode == kOff) return {};
  const std::uint64_t at = position.load(std::memory_order_relaxed);
  return {&site, mode == kInline ? read_counter() : begin_out_of_line(site, at), at};
}

inline void end(OpenSpan span) noexcept {
  if (span.begin_ticks == 0) return;
  if (!span.site->is_inline.load(std::memory_order_relaxed))
    return end_out_of_line(*span.site, span.begin_ticks, span.position);
  put({span.begin_ticks, read_counter() - span.begin_ticks, span.position, span.site->id,
       Kind::whole, 0, 0});
}

}  // namespace detail

// ---- Markers and counters ----------------------------------------------------------------------

#ifndef TRACELOOM_DISABLE
inline namespace enabled {

// A named place of the program that can last, or happen. Markers of equal name, categories and
// options are one in the trace, and one marker may be used by several threads at once, and within
// itself. Whether it is recorded is decided when it starts.
class Marker {
 public:
  // For literals: both texts are read when the marker is first used, not before. Categories are
  // joined by ','. As a static or global object it costs nothing to construct.
  constexpr explicit Marker(const char* name, const char* categories = "",
                            MarkerOptions options = {})
      : name_(name), categories_(categories), options_(options) {}
  // For names that are made up while the program runs.
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

  // A pair for where a Scope does not fit: both in the same thread, other pairs may begin or end
  // between them in any order. A finish() without its start() does nothing; the first of each
  // marker is told to Options::log, and all are counted in Session::status().
  void start() const noexcept { detail::push_open(site()); }
  void finish() const noexcept { detail::pop_open(site()); }

  void instant() const noexcept {
    detail::Site& at = site();
    if (at.mode.load(std::memory_order_relaxed) != detail::kOff) detail::put_instant(at);
  }

  // Calls `function` within a Scope and gives what it returns.
  template <typename Function, typename... Args>
  decltype(auto) call(Function&& function, Args&&... args) const;
  // A function that does the same whenever it is called. The marker must live as long.
  template <typename Function>
  auto wrap(Function function) const {
    return [this, function = std::move(function)](auto&&... args) mutable -> decltype(auto) {
      return call(function, std::forward<decltype(args)>(args)...);
    };
  }

  detail::Site& site() const noexcept {
    detail::Site* at = site_.load(std::memory_order_acquire);
    return at != &detail::unregistered_site ? *at : registered();
  }

 private:
  detail::Site& registered() const noexcept {
    detail::Site* at = detail::register_marker(name_, categories_, options_);
    site_.store(at, std::memory_order_release);
    return *at;
  }

  const char* name_;
  const char* categories_;
  MarkerOptions options_;
  mutable std::atomic<detail::Site*> site_{&detail::unregistered_site};
};

// Records from here to the end of the block, or to finish(), also when an exception ends it. May
// end in another thread than it began in; it is shown in the one where it ends.
class Scope {
 public:
  explicit Scope(const Marker& marker) noexcept : span_(detail::begin(marker.site())) {}
  ~Scope() { detail::end(span_); }
  Scope(Scope&& other) noexcept : span_(std::exchange(other.span_, {})) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  void finish() noexcept { detail::end(std::exchange(span_, {})); }
  // It shall not have been: nothing is recorded of it (but a long-running one stays open).
  void abandon() noexcept { span_ = {}; }

 private:
  detail::OpenSpan span_;
};

template <typename Function, typename... Args>
decltype(auto) Marker::call(Function&& function, Args&&... args) const {
  const Scope scope(*this);
  return std::forward<Function>(function)(std::forward<Args>(args)...);
}

// Values that change over time: one track, one curve a key.
class Counter {
 public:
  // Of more than 64 keys the first 64. A key that stands twice gets its last value, and the log is
  // told.
  Counter(const std::string& name, const std::string& categories,
          const std::vector<std::string>& keys, Actions actions = kWhileRecording)
      : site_(detail::register_counter(name, categories, keys, actions)) {}

  // One value a key, in their order. Values that are no number (NaN, infinity) are left out of the
  // file; an event without any other is not in it at all and counts as lost (Status::lost).
  template <typename... Values>
  void record(Values... values) const noexcept {
    static_assert((std::is_arithmetic_v<Values> && ...));
    const double all[] = {static_cast<double>(values)...};
    record_all(all, sizeof...(values));
  }
  void record_all(const double* values, std::size_t count) const noexcept {
    if (site_->mode.load(std::memory_order_relaxed) != detail::kOff)
      detail::put_counter(*site_, values, count);
  }

 private:
  detail::Site* site_;
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
  void instant() const noexcept {}
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
  ~Scope() {}  // not trivial, as in the other case: no warning of an unused variable
  Scope(Scope&&) noexcept {}
  void finish() noexcept {}
  void abandon() noexcept {}
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

// The range of a data loader, with the time that it takes to return each batch recorded: to step to
// it and to get it, without the time of the one who uses it, and without the step that finds the
// end.
//
//   for (auto& batch : timed(loader, marker)) ...
//
// `loader` and `marker` must live as long as the range.
template <typename Range>
class TimedRange {
 public:
  TimedRange(Range& range, const Marker& marker) : range_(range), marker_(marker) {}

  class Sentinel {};
  class Iterator {
   public:
    using Inner = decltype(std::begin(std::declval<Range&>()));
    using End = decltype(std::end(std::declval<Range&>()));
    using reference = decltype(*std::declval<Inner&>());
    using value_type = std::remove_cv_t<std::remove_reference_t<reference>>;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type*;
    using iterator_category = std::input_iterator_tag;

    Iterator(Range& range, const Marker& marker) : marker_(&marker), scope_(marker) {
      inner_.emplace(std::begin(range));
      end_.emplace(std::end(range));
      fetch();
    }
    std::remove_reference_t<reference>& operator*() { return *held_; }
    Iterator& operator++() {
      scope_.emplace(*marker_);
      ++*inner_;
      fetch();
      return *this;
    }
    bool operator!=(Sentinel) const { return *inner_ != *end_; }
    bool operator==(Sentinel) const { return !(*inner_ != *end_); }

   private:
    void fetch() {
      held_.reset();
      if (*inner_ != *end_)
        held_.emplace(*inner_);
      else
        scope_->abandon();
      scope_.reset();
    }
    // What a reference leads to, or a value that the loader makes anew.
    struct Held {
      using Kept = std::conditional_t<std::is_reference_v<reference>,
                                      std::remove_reference_t<reference>*, value_type>;
      std::optional<Kept> kept;
      void reset() { kept.reset(); }
      void emplace(Inner& at) {
        if constexpr (std::is_reference_v<reference>) {
          auto&& element = *at;
          kept.emplace(&element);
        } else {
          kept.emplace(*at);
        }
      }
      std::remove_reference_t<reference>& operator*() {
        if constexpr (std::is_reference_v<reference>)
          return **kept;
        else
          return *kept;
      }
    };

    const Marker* marker_;
    std::optional<Scope>
        scope_;  // open while the batch is fetched; first, so that begin() is in it
    std::optional<Inner> inner_;
    std::optional<End> end_;
    Held held_;
  };

  Iterator begin() { return Iterator(range_, marker_); }
  Sentinel end() { return {}; }

 private:
  Range& range_;
  const Marker& marker_;
};

template <typename Range>
TimedRange<Range> timed(Range& range, const Marker& marker) {
  return TimedRange<Range>(range, marker);
}

// The same for a loader that is asked by a function, until what it returns is false (a null
// pointer, an empty optional).
//
//   while (auto batch = timed_next(marker, [&] { return loader.next(); })) ...
template <typename Next>
auto timed_next(const Marker& marker, Next&& next) {
  Scope scope(marker);
  auto batch = std::forward<Next>(next)();
  if (!batch) scope.abandon();
  return batch;
}

// ---- The session -------------------------------------------------------------------------------

// What happens to events when the threads are faster than the disk.
enum class WhenFull : std::uint8_t {
  drop,   // new events are not recorded until there is room again; how many is written in the file
  ring,   // old ones make room for new ones, and only a save writes: a flight recorder
  block,  // the thread waits for room, up to Options::block_ms, and then drops
};

enum class ClockChoice : std::uint8_t {
  automatic,  // the processor's counter where it can be trusted, else CLOCK_MONOTONIC
  monotonic,
};

// A file that is complete.
struct SavedTrace {
  Position position;          // at its end
  std::string path;           // "" where none could be made
  std::uint64_t events = 0;   // without metadata
  std::uint64_t dropped = 0;  // and those that found no room while it was recorded
};

struct Options {
  // -1 and 0: not known. An unknown rank is written as 0.
  std::int64_t rank = 0;
  std::int64_t local_rank = 0;
  std::int64_t node_rank = 0;
  std::int64_t world_size = 0;
  std::int64_t local_world_size = 0;

  // Files are named `folder`/`file_name(position at the end of the cycle)`; without a function
  // "ep{epoch}-ba{batch}-rank{rank}.json". A name that ends in .gz is compressed. Folders are
  // created. A name that exists already gets a number: "rank0-2.json".
  std::string folder = "traces";
  std::function<std::string(const Position&)> file_name;
  int gzip_level = 1;  // 0 to 9
  // Otherwise a folder with a file of this rank in it (of any rank, when there is a barrier) is an
  // error; files that begin with '.' do not count.
  bool overwrite = false;
  std::int64_t num_traces_to_keep = -1;  // the newest of this session; -1: all

  // Without one, everything is recorded from the constructor to close().
  Schedule schedule;
  Position start;  // other than 0 for a run that is resumed

  // Returns when all ranks have called it. Called by the thread that calls the session: once in the
  // constructor, `sync_rounds` times at the beginning of each cycle and, with sync_at_end, at its
  // end. From its times trace-merge knows how the ranks' clocks differ. None: no clock sync.
  std::function<void()> barrier;
  unsigned sync_rounds = 16;
  bool sync_at_end = true;

  std::size_t pool_bytes = std::size_t{8} << 20;
  std::size_t max_pool_bytes = std::size_t{64} << 20;  // for the first chunk of very many threads
  WhenFull when_full = WhenFull::drop;
  unsigned block_ms = 10;
  unsigned flush_ms = 100;  // what a killed process loses at most; nothing with a journal
  // Where the pool is a file, so that events survive the death of the process; on the node itself
  // (not NFS), for example /dev/shm. Empty: none. What an earlier session of this rank left there
  // is taken up by the constructor; so does `trace-merge --recover`.
  std::string journal_folder;

  ClockChoice clock = ClockChoice::automatic;
  bool write_json = true;  // the files above; without, only `handlers` get the events
  std::vector<std::shared_ptr<TraceHandler>> handlers;
  std::function<void(const std::string&)> log;  // one line, without its end; any thread
  // In the writer's thread, where nothing of the session waits, and close() does nothing; the
  // session must not be destroyed there. The file is there; num_traces_to_keep deletes behind it.
  std::function<void(const SavedTrace&)> on_saved;
};

struct Status {
  std::uint64_t events = 0;   // handed to the files and handlers so far
  std::uint64_t dropped = 0;  // found no room
  std::uint64_t lost = 0;     // recorded, but not in a file: it could not be written, or not this
  std::uint64_t misuses = 0;  // finish() without start()
  std::uint64_t bytes = 0;    // written, as they are on disk
  std::size_t peak_pool_bytes = 0;
  std::string clock;       // "tsc" or "monotonic"
  std::string last_error;  // empty: none
};

// Records while it lives. One at a time in a process; in a child made by fork() it is closed, and a
// new one may be opened there. batch_begin(), batch_end(), set_position() and close() are for one
// thread; the others for any.
class Session {
 public:
  // Throws std::runtime_error when the folder cannot be written, is not empty, or another session
  // is open.
  explicit Session(Options options);
  // close(), but without its barrier: this may be an exception on one rank only.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // In front of each batch: begins a cycle when the schedule wants this batch and none is open.
  void batch_begin(const Position& position);
  // Behind each batch, with what is completed now: ends the cycle when the schedule wanted it saved
  // behind this batch. The file is cut here and written by another thread. From here on the
  // schedule's word for the next batch holds.
  void batch_end(const Position& position);
  // Elsewhere, as at the end of an epoch.
  void set_position(const Position& position);
  Action action() const;

  // Takes the trace of another profiler into the file of the cycle: its pids become the rank, its
  // times get the same base, and what is no strict JSON is mended and told. Plain or .gz, an object
  // or a list, closed or not. The writer's thread reads the file; it must stay as it is until then.
  void record_chrome_json_trace_file(const std::string& path);

  // Waits until all that this thread has recorded is in the file (or in the cache of the system);
  // with WhenFull::ring only a save writes, and with no cycle open nothing can be written yet.
  void flush();
  // Waits until all cycles that have ended are complete files. False after `timeout_ms`.
  bool wait_saved(unsigned timeout_ms);
  std::vector<SavedTrace> saved_traces() const;  // that still exist, oldest first
  Status status() const;

  // Ends an open cycle, with its clock sync, and waits for the files. Once; later calls do nothing.
  void close();

 private:
  std::shared_ptr<Engine> engine_;
};

// The name that the trace shows for this thread; otherwise that of the system.
void set_thread_name(const std::string& name);

}  // namespace traceloom::record

#pragma GCC visibility pop

// ---- Macros: a scope in one line, nothing at all with TRACELOOM_DISABLE
// ---------------------------

#define TRACELOOM_JOIN_(a, b) a##b
#define TRACELOOM_JOIN(a, b) TRACELOOM_JOIN_(a, b)
#ifndef TRACELOOM_DISABLE
// TRACELOOM_SCOPE("forward"); TRACELOOM_SCOPE("h2d", "copy"); literals only.
#define TRACELOOM_SCOPE(...)                                                                     \
  static constexpr const char* TRACELOOM_JOIN(traceloom_texts_, __LINE__)[] = {__VA_ARGS__, ""}; \
  static const ::traceloom::record::Marker TRACELOOM_JOIN(traceloom_marker_, __LINE__)(          \
      TRACELOOM_JOIN(traceloom_texts_, __LINE__)[0],                                             \
      TRACELOOM_JOIN(traceloom_texts_, __LINE__)[1]);                                            \
  const ::traceloom::record::Scope TRACELOOM_JOIN(                                               \
      traceloom_scope_, __LINE__)(TRACELOOM_JOIN(traceloom_marker_, __LINE__))
#define TRACELOOM_INSTANT(...)                                                     \
  do {                                                                             \
    static constexpr const char* traceloom_texts[] = {__VA_ARGS__, ""};            \
    static const ::traceloom::record::Marker traceloom_marker(traceloom_texts[0],  \
                                                              traceloom_texts[1]); \
    traceloom_marker.instant();                                                    \
  } while (false)
#else
#define TRACELOOM_SCOPE(...) static_assert(true, "")
#define TRACELOOM_INSTANT(...) static_cast<void>(0)
#endif
