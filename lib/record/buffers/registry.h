// Registry: all markers and counters of the process, and which of them record at this moment.
//
//   Registry::instance().set_action(Action::active);   // switches each marker on or off
//   const Label* label = Registry::instance().label(slot.site);
//
// One in a process, never destroyed: markers are used before main() and after it.
#pragma once

#include "record/marker.h"
#include "record/trace_handler.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace traceloom::record {

// Of a counter; what is given beyond these is left out.
inline constexpr std::size_t kMostKeys = 64;

// One marker or counter.
struct Label : detail::Site, EventLabel {
  MarkerOptions options;
  std::vector<std::string> key_names;  // of a counter
  std::atomic<bool> misuse_told{false};
  std::optional<std::string> repeated_key;  // of a counter: the first that stands twice
};

// Thread-safe.
class Registry {
 public:
  static Registry& instance();

  // The one of this kind, made when there is none.
  Label& marker(const std::string& name, const std::string& categories,
                const MarkerOptions& options);
  Label& counter(const std::string& name, const std::string& categories,
                 const std::vector<std::string>& keys, Actions actions);
  // By EventLabel::id, which counts from 1; nullptr when there is none.
  const Label* label(std::uint32_t id);

  // What is recorded from now on; nothing without an action.
  void set_action(std::optional<Action> action);

  // `seen` is told of all labels there are and of each new one, one at a time; {} ends that.
  void watch(std::function<void(const Label&)> seen);

  // What set_thread_name() said; empty when nothing.
  std::string thread_name(std::uint32_t tid);
  void name_thread(std::uint32_t tid, const std::string& name);

  // finish() without start(). The first of each label goes to the log.
  void count_misuse(Label& label) noexcept;
  std::uint64_t misuses() const { return misuses_.load(std::memory_order_relaxed); }
  // Is told of counters with a key twice as well: of those there are and of each new one.
  void set_log(const std::function<void(const std::string&)>& log);

  // Around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  // In the child, where the lock is held: nothing is recorded, nobody watches.
  void forget_session();

 private:
  using Identity = std::tuple<std::string, std::string, unsigned, std::vector<std::string>>;

  Registry() = default;
  Label& find(const Identity& identity, const MarkerOptions& options);
  void set_mode(Label& label) const;

  std::mutex mutex_;
  std::deque<Label> labels_;
  std::map<Identity, Label*> known_;
  std::optional<Action> action_;
  std::map<std::uint32_t, std::string> thread_names_;
  std::function<void(const Label&)> seen_;
  std::function<void(const std::string&)> log_;
  std::atomic<std::uint64_t> misuses_{0};
};

}  // namespace traceloom::record
