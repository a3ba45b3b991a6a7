#include "summarize/span_table.h"

#include "event/event_label.h"

#include <algorithm>
#include <functional>

namespace traceloom {
namespace {

// Returns a view of `scratch`. The NUL separates pid and tid because JSON text has none.
std::string_view place_key(std::size_t file, std::string_view pid, std::string_view tid,
                           std::string& scratch) {
  scratch = std::to_string(file) + ' ';
  scratch.append(pid).push_back('\0');
  scratch.append(tid);
  return scratch;
}

bool is_in_sample(std::string_view name) {
  return std::hash<std::string_view>()(name) % SpanTable::kNameSample == 0;
}

}  // namespace

std::uint32_t SpanTable::label(const Event& event) {
  const std::uint32_t raw = raw_labels_.intern(label_text(event, scratch_));
  if (raw == label_of_raw_.size()) {
    const std::string_view name = string_or_nothing(event.text(Key::name));
    label_of_raw_.push_back(label(name.empty() ? std::string(kNoName) : decoded(name),
                                  decoded(string_or_nothing(event.text(Key::cat)))));
  }
  return label_of_raw_[raw];
}

std::uint32_t SpanTable::label(std::string_view name, std::string_view category) {
  const std::uint32_t name_number = texts_.intern(name);
  const std::uint32_t category_number = texts_.intern(category);
  const std::uint32_t number =
      label_names_.intern(NumberPair(name_number, category_number).bytes());
  if (number == labels_.size()) {
    labels_.push_back({name_number, category_number, filter_.accepts(name, category)});
    if (labels_.back().wanted && is_in_sample(name)) name_sample_.push_back(name_number);
  }
  return number;
}

// Compares with the last event first: events of one thread mostly follow each other.
std::uint32_t SpanTable::place(const Event& event, std::size_t file) {
  const std::string_view pid = has_pids() ? event.text(Key::pid) : std::string_view{};
  const std::string_view tid = has_threads() ? event.text(Key::tid) : std::string_view{};
  if (last_place_ != kNothing && file == last_file_ && tid == last_tid_ && pid == last_pid_)
    return last_place_;
  const std::uint32_t raw = raw_places_.intern(place_key(file, pid, tid, scratch_));
  if (raw == place_of_raw_.size())
    place_of_raw_.push_back(place(file, canonical_id(pid), canonical_id(tid)));
  last_file_ = file;
  last_pid_ = pid;
  last_tid_ = tid;
  last_place_ = place_of_raw_[raw];
  return last_place_;
}

std::uint32_t SpanTable::place(std::size_t file, std::string_view pid, std::string_view tid) {
  if (places_ == SpanPlaces::none && file < files_) file = 0;
  if (!has_pids()) pid = {};
  if (!has_threads()) tid = {};
  const std::uint32_t number = place_names_.intern(place_key(file, pid, tid, scratch_));
  if (number == places_made_.size())
    places_made_.push_back({file, texts_.intern(pid), texts_.intern(tid)});
  return number;
}

std::uint32_t SpanTable::group(std::uint32_t label_number, std::uint32_t place_number) {
  Label& label = labels_[label_number];
  if (label.last_place != place_number) {
    label.last_place = place_number;
    label.last_group = group_names_.intern(NumberPair(label_number, place_number).bytes());
    if (label.last_group == groups_.size()) groups_.push_back({label_number, place_number, {}});
  }
  return label.last_group;
}

void SpanTable::add(const Event& event, std::size_t file, std::int64_t duration_ns) {
  const std::uint32_t label_number = label(event);
  if (labels_[label_number].wanted)
    pending_.push_back({group(label_number, place(event, file)), duration_ns});
}

void SpanTable::add(std::uint32_t label_number, std::uint32_t place_number,
                    std::int64_t duration_ns) {
  if (labels_[label_number].wanted)
    pending_.push_back({group(label_number, place_number), duration_ns});
}

void SpanTable::commit() {
  for (const Pending& span : pending_) groups_[span.group].durations.add(span.duration_ns, arena_);
  pending_.clear();
}

void SpanTable::discard() {
  pending_.clear();
}

}  // namespace traceloom
