#include "record/buffers/registry.h"

#include "base/json_string.h"
#include "record/buffers/clock.h"
#include "record/support/process_support.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace traceloom::record {
namespace {

unsigned bits_of(const MarkerOptions& options) {
  unsigned bits = options.actions.bits();
  for (const bool flag :
       {options.instant_on_start, options.instant_on_finish, options.long_running})
    bits = bits << 1 | (flag ? 1U : 0U);
  return bits;
}

// Keys are compared as they stand in the file: keys that are no UTF-8 may be equal there.
std::optional<std::string> first_repeated(const std::vector<std::string>& keys) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& key : keys) ++counts[json_string(key)];
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const std::string& key) {
    return counts[json_string(key)] > 1;
  });
  return found == keys.end() ? std::nullopt : std::optional(*found);
}

// Returns the names in a list. One that the file would have twice is empty, and its values are not
// written.
std::vector<std::string> args_in(const char* list) {
  std::vector<std::string> names;
  std::string_view left = list == nullptr ? "" : list;
  while (!left.empty() && names.size() < detail::kMostArgs) {
    const std::size_t comma = std::min(left.find(','), left.size());
    const std::string name(left.substr(0, comma));
    const bool is_taken = name == "epoch" || name == "batch" ||
                          std::find(names.begin(), names.end(), name) != names.end();
    names.push_back(is_taken ? "" : name);
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  return names;
}

// Warns once, in the first log there is.
void tell_repeated_key(Label& label, const std::function<void(const std::string&)>& log) {
  if (label.repeated_key && log && !label.misuse_told.exchange(true))
    tell(log, "counter '" + label.name + "': the key '" + *label.repeated_key +
                  "' stands twice; its last value is written");
}

}  // namespace

Registry& Registry::instance() {
  static Registry* const registry = new Registry;
  return *registry;
}

Label& Registry::marker(const std::string& name, const std::string& categories,
                        const MarkerOptions& options) {
  std::vector<std::string> args = args_in(options.args);
  const std::lock_guard lock(mutex_);
  return find({name, categories, bits_of(options), std::move(args)}, options);
}

Label& Registry::counter(const std::string& name, const std::string& categories,
                         const std::vector<std::string>& keys, Actions actions) {
  MarkerOptions options;
  options.actions = actions;
  const auto end = keys.begin() + std::min<std::ptrdiff_t>(std::ssize(keys), kMostKeys);
  std::unique_lock lock(mutex_);
  Label& label = find({name, categories, bits_of(options), {keys.begin(), end}}, options);
  const std::function<void(const std::string&)> log = log_;
  lock.unlock();
  tell_repeated_key(label, log);
  return label;
}

Label& Registry::find(const Identity& identity, const MarkerOptions& options) {
  if (const auto known = known_.find(identity); known != known_.end()) return *known->second;
  Label& label = labels_.emplace_back();
  static_cast<EventLabel&>(label).id = static_cast<std::uint32_t>(labels_.size());
  static_cast<detail::Site&>(label).id = static_cast<EventLabel&>(label).id;
  label.name = std::get<0>(identity);
  label.categories = std::get<1>(identity);
  label.options = options;
  label.options.args = nullptr;  // key_names has them
  label.key_names = std::get<3>(identity);
  for (const std::string& key : label.key_names) label.key_texts.push_back(key.c_str());
  label.key_texts.push_back(nullptr);
  label.keys = label.key_texts.data();
  label.key_count = label.key_names.size();
  if (options.args == nullptr) label.repeated_key = first_repeated(label.key_names);
  known_.emplace(identity, &label);
  if (seen_) seen_(label);
  set_mode(label);
  return label;
}

const Label* Registry::label(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  return id == 0 || id > labels_.size() ? nullptr : &labels_[id - 1];
}

void Registry::set_mode(Label& label) const {
  const MarkerOptions& options = label.options;
  const bool is_inline = detail::clock_is_tsc.load(std::memory_order_relaxed) &&
                         !options.long_running && !options.instant_on_start &&
                         !options.instant_on_finish;
  const bool is_on = action_ && options.actions.contains(*action_);
  label.is_inline.store(is_inline, std::memory_order_relaxed);
  label.mode.store(!is_on      ? detail::kOff
                   : is_inline ? detail::kInline
                               : detail::kOutOfLine,
                   std::memory_order_relaxed);
}

void Registry::set_action(std::optional<Action> action) {
  const std::lock_guard lock(mutex_);
  if (action_ == action) return;
  action_ = action;
  for (Label& label : labels_) set_mode(label);
}

void Registry::watch(std::function<void(const Label&)> seen) {
  const std::lock_guard lock(mutex_);
  seen_ = std::move(seen);
  if (seen_)
    for (const Label& label : labels_) seen_(label);
}

std::string Registry::thread_name(std::uint32_t tid) {
  const std::lock_guard lock(mutex_);
  const auto found = thread_names_.find(tid);
  return found == thread_names_.end() ? std::string() : found->second;
}

void Registry::name_thread(std::uint32_t tid, const std::string& name) {
  const std::lock_guard lock(mutex_);
  thread_names_[tid] = name;
}

void Registry::begin_epoch(std::uint64_t end, Action action) noexcept {
  first_action_.store(action, std::memory_order_relaxed);
  traceloom_epoch_ended_at.store(end, std::memory_order_relaxed);
}

void Registry::count_early(const Label& label) noexcept {
  if (label.options.actions.contains(first_action_.load(std::memory_order_relaxed)))
    count_misuse(label,
                 "a scope that begins before set_position() or batch_begin() says its epoch is not "
                 "recorded");
}

void Registry::count_misuse(const Label& label, const char* what) noexcept {
  misuses_.fetch_add(1, std::memory_order_relaxed);
  if (label.misuse_told.exchange(true)) return;
  try {
    std::unique_lock lock(mutex_);
    const std::function<void(const std::string&)> log = log_;
    lock.unlock();
    if (log) log("marker '" + label.name + "': " + what + " (told once a marker)");
  } catch (...) {
    return;  // the misuse is counted all the same
  }
}

void Registry::set_log(const std::function<void(const std::string&)>& log) {
  std::unique_lock lock(mutex_);
  log_ = log;
  std::vector<Label*> repeated;
  for (Label& label : labels_)
    if (label.repeated_key) repeated.push_back(&label);
  lock.unlock();
  for (Label* const label : repeated) tell_repeated_key(*label, log);
}

void Registry::forget_session() {
  action_.reset();
  for (Label& label : labels_) label.mode.store(detail::kOff, std::memory_order_relaxed);
  seen_ = {};
  log_ = {};
}

}  // namespace traceloom::record
