#include "identity/evidence/sync_marks.h"

#include "base/optional_value.h"
#include "event/trace_time.h"
#include "json/json_document.h"

#include <string_view>

namespace traceloom {
namespace {

constexpr std::string_view kLegacyName = "ClockSyncEvent.";

// Returns the middle of two moments and their distance, or nullopt if the second one is earlier.
std::optional<SyncEvent> between(std::int64_t asked_ns, std::int64_t answered_ns) {
  SyncEvent event;
  if (__builtin_sub_overflow(answered_ns, asked_ns, &event.error_ns) || event.error_ns < 0)
    return std::nullopt;
  event.moment_ns = asked_ns + event.error_ns / 2;
  return event;
}

std::optional<std::int64_t> nanoseconds(std::string_view json_value) {
  const std::optional<ParsedTime> time = parse_time(json_value);
  return time ? std::optional(time->rounded_ns()) : std::nullopt;
}

void keep_shorter(std::optional<SyncEvent>& best, const std::optional<SyncEvent>& other) {
  if (other && (!best || other->error_ns < best->error_ns)) best = other;
}

}  // namespace

bool SyncMarks::is_mark(const Event& event) {
  return event.phase == 'c' || ((event.phase == 'S' || event.phase == 'F') &&
                                unquoted(event.text(Key::name)).starts_with(kLegacyName));
}

SyncMarks::Mark* SyncMarks::find(const std::string& id) {
  const auto known = marks_.find(id);
  if (known != marks_.end()) return &known->second;
  return marks_.size() < kMaxIds ? &marks_[id] : nullptr;
}

void SyncMarks::add(const Event& event) {
  const std::optional<std::int64_t> ts_ns = nanoseconds(event.text(Key::ts));
  if (!ts_ns) return;
  if (event.phase != 'c') {
    const std::string name = decoded(event.text(Key::name));
    Mark* const mark = find(canonical_id('"' + name.substr(kLegacyName.size()) + '"'));
    if (mark != nullptr) keep_first(event.phase == 'S' ? mark->asked_ns : mark->answered_ns, ts_ns);
    return;
  }
  const JsonDocument args(event.text(Key::args));
  const std::string id = canonical_id(args["sync_id"].text());
  if (id.empty()) return;
  const std::optional<std::int64_t> asked_ns = nanoseconds(args["issue_ts"].text());
  if (Mark* const mark = find(id))
    keep_shorter(mark->event, between(asked_ns.value_or(*ts_ns), *ts_ns));
}

void SyncMarks::add(const SyncMarks& later) {
  for (const auto& [id, mark] : later.marks_) {
    Mark* const known = find(id);
    if (known == nullptr) continue;
    keep_shorter(known->event, mark.event);
    keep_first(known->asked_ns, mark.asked_ns);
    keep_first(known->answered_ns, mark.answered_ns);
  }
}

std::vector<SyncEvent> SyncMarks::events() const {
  std::vector<SyncEvent> events;
  for (const auto& [id, mark] : marks_) {
    std::optional<SyncEvent> best = mark.event;
    if (mark.asked_ns && mark.answered_ns)
      keep_shorter(best, between(*mark.asked_ns, *mark.answered_ns));
    if (best) events.push_back({id, best->moment_ns, best->error_ns});
  }
  return events;
}

}  // namespace traceloom
