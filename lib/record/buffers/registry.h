// Registry: all markers and counters of the process, and which of them record at this moment.
//
//   Registry::instance().set_action(Action::active);   // switches each marker on or off
//   const Label* label = Registry::instance().label(slot.site);
//
// A process has one registry, which is never destroyed: markers are used before main() and after
// it.
#pragma once

#include "record/marker.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace traceloom::record {

// The position at the end of an epoch that there was not.
inline constexpr std::uint64_t kNoEpoch = ~std::uint64_t{0};

// The most keys of a counter; further keys are left out.
inline constexpr std::size_t kMostKeys = 64;

// The facts that events of one marker or counter share.
struct EventLabel {
  std::uint32_t id = 0;  // 1, 2, 3, ... in order of first use
  std::string name;
  std::string categories;             // joined by ','
  const char* const* keys = nullptr;  // of a counter's values, or of arguments; NULL is the last
  std::size_t key_count = 0;
};

// One marker or counter; lives as long as the process.
struct Label : traceloom_counter, EventLabel {
  MarkerOptions options;
  std::vector<std::string> key_names;  // for a counter
  std::vector<const char*> key_texts;  // the same
  mutable std::atomic<bool> misuse_told{false};
  std::optional<std::string> repeated_key;  // for a counter: the first key that stands twice
};

// Thread-safe.
class Registry {
 public:
  static Registry& instance();

  // Returns the label of this kind, and makes it if there is none.
  Label& marker(const std::string& name, const std::string& categories,
                const MarkerOptions& options);
  Label& counter(const std::string& name, const std::string& categories,
                 const std::vector<std::string>& keys, Actions actions);
  // Finds a label by EventLabel::id, which counts from 1; nullptr if there is none.
  const Label* label(std::uint32_t id);

  // Sets the action that decides what is recorded from now on; without one, nothing is.
  void set_action(std::optional<Action> action);

  // Calls `seen` for all labels there are and for each new one, one at a time; {} ends that.
  void watch(std::function<void(const Label&)> seen);

  // Returns the name that set_thread_name() has given, or an empty text.
  std::string thread_name(std::uint32_t tid);
  void name_thread(std::uint32_t tid, const std::string& name);

  // Counts what the program does wrong with a label. The first time goes to the log.
  void count_misuse(const Label& label, const char* what) noexcept;
  // Tells that an epoch begins under this action. A span that began after `end`, the position at
  // the end of the epoch before, and before this call is a misuse if its label is recorded by then.
  void begin_epoch(std::uint64_t end, Action action) noexcept;
  void count_early(const Label& label) noexcept;
  std::uint64_t misuses() const { return misuses_.load(std::memory_order_relaxed); }
  // The log also gets a warning for each counter with a key twice, for those there are and for each
  // new one.
  void set_log(const std::function<void(const std::string&)>& log);

  // For use around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  // Called in the child of a fork(), with the lock held: nothing is recorded, nobody watches.
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
  std::atomic<Action> first_action_{Action::skip};  // of the epoch
};

}  // namespace traceloom::record
