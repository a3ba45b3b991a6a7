#include "merge/slices/slice_facts.h"

#include "base/json_string.h"
#include "base/json_walk.h"
#include "event/event_timing.h"
#include "scan/event_repair.h"

#include <algorithm>
#include <iterator>

#define XXH_INLINE_ALL  // xxHash asks for it where its library is not linked
#include <xxhash.h>

namespace traceloom {

void CutSlices::add(const Event& event) {
  if (event.phase != 'E' && event.phase != 'X') return;
  (is_cut_slice(event) ? cut : whole)
      .push_back({std::string(event.text(Key::pid)), std::string(event.text(Key::tid)),
                  std::string(event.text(Key::cut_id))});
}

void CutSlices::append(CutSlices later) {
  std::ranges::move(later.cut, std::back_inserter(cut));
  std::ranges::move(later.whole, std::back_inserter(whole));
}

namespace {

// Separates the parts of a key: JSON text never contains it.
constexpr char kKeyPart = '\0';

bool is_step(char phase) {
  return phase == 'T' || phase == 'p';
}

// Returns JSON text: args.step, or the name of the operation if args.step is neither a string nor a
// number.
std::string step_name(const Event& event, std::string& scratch) {
  const std::string_view step = find_member(strict_value(event.text(Key::args), scratch), "step");
  if (is_json_string(step)) return std::string(step);
  if (is_json_number(step)) return json_string(step);
  return std::string(strict_value(event.text(Key::name), scratch));
}

std::string category_of(const Event& event, std::string& scratch) {
  const std::string_view category = strict_value(event.text(Key::cat), scratch);
  return category.empty() ? "\"\"" : std::string(category);
}

}  // namespace

const AsyncAdditions* AsyncSlices::find(std::uint64_t offset) const {
  const auto found = std::ranges::lower_bound(additions_, offset, {}, &AsyncAdditions::offset);
  return found == additions_.end() || found->offset != offset ? nullptr : &*found;
}

// Viewers know an old operation by its name, which is part of `key`, and a new one by its category,
// which is added here.
void AsyncBatch::add(std::string_view key, const Event& event, std::int64_t start_ns) {
  const std::string_view name = event.text(Key::name);
  if (event.phase == 'n' || !is_json_string(name)) return;
  const bool is_new = event.phase == 'b' || event.phase == 'e';
  scratch_.assign(key);
  scratch_ += kKeyPart;
  if (is_new) scratch_.append(event.text(Key::cat));
  const std::uint64_t operation = XXH3_64bits(scratch_.data(), scratch_.size());
  Record record{start_ns, event.offset, operation, kNoText, kNoText, event.phase};
  if (is_new) {
    record.name = texts_.intern(strict_value(name, scratch_));
  } else {
    record.category = texts_.intern(category_of(event, scratch_));
    if (is_step(event.phase)) record.name = texts_.intern(step_name(event, scratch_));
  }
  records_.push_back(record);
}

void AsyncSliceFinder::take(const AsyncBatch& later) {
  std::vector<std::uint32_t> texts;
  texts.reserve(later.texts_.size());
  for (std::uint32_t i = 0; i < later.texts_.size(); ++i)
    texts.push_back(texts_.intern(later.texts_[i]));
  for (Record record : later.records_) {
    if (record.category != kNoText) record.category = texts[record.category];
    if (record.name != kNoText) record.name = texts[record.name];
    waiting_.push_back(record);
    if (waiting_.size() >= kReorderRecords) release(waiting_.size() / 2);
  }
}

// Takes the `count` oldest of the waiting events.
void AsyncSliceFinder::release(std::size_t count) {
  std::ranges::stable_sort(waiting_, {}, &Record::start_ns);
  for (std::size_t i = 0; i < count; ++i) add(waiting_[i]);
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
}

void AsyncSliceFinder::add(const Record& record) {
  switch (record.phase) {
    case 'b':
    case 'S':
      return begin(record);
    case 'e':
    case 'F':
      return end(record);
    default:
      break;
  }
  const auto found = operations_.find(record.operation);
  if (found != operations_.end() && !found->second.open.empty()) add_step(record, found->second);
}

void AsyncSliceFinder::begin(const Record& record) {
  Operation& operation = operations_[record.operation];
  end_step(record, operation);
  std::vector<Open>& open = operation.open;
  if (!open.empty() && open.back().category != record.category) ++operation.mixed;
  open.push_back({record.offset, record.start_ns, record.category,
                  record.phase == 'b' ? record.name : kNoText});
  operation.last = record.offset;
}

void AsyncSliceFinder::end(const Record& record) {
  Operation& operation = operations_[record.operation];
  end_step(record, operation);
  if (!operation.open.empty()) set_category(record, operation);
  if (close(record, operation))
    operation.last = record.offset;
  else
    operation.stray_ends.emplace(record.name, record.start_ns);
  if (operation.open.empty() && operation.stray_ends.empty()) operations_.erase(record.operation);
}

// Closes the innermost begin that has the name of the event. Slices that are open inside it end
// with it, unless an end of their own follows. Returns false if there is no such begin.
bool AsyncSliceFinder::close(const Record& record, Operation& operation) {
  std::vector<Open>& open = operation.open;
  const std::size_t least = open.size() - std::min(open.size(), kMostNested);
  std::size_t place = open.size();
  while (place > least && open[place - 1].name != record.name) --place;
  if (place == least) return false;
  --place;
  for (std::size_t i = place + 1; i < open.size(); ++i)
    if (open[i].around_end == kNone) open[i].around_end = record.offset;
  // Old events all have the last begin's name, new ones all the same category.
  if (place > 0 && open[place - 1].category != open[place].category) --operation.mixed;
  open.erase(open.begin() + static_cast<std::ptrdiff_t>(place));
  return true;
}

// Returns the category that the event has in the merge.
std::uint32_t AsyncSliceFinder::set_category(const Record& record, const Operation& operation) {
  const std::uint32_t category = operation.open.back().category;
  if (operation.mixed > 0 || category == record.category) return record.category;
  return additions_to(record.offset).category = category;
}

void AsyncSliceFinder::add_step(const Record& record, Operation& operation) {
  end_step(record, operation);
  const AsyncHalf other{record.name, set_category(record, operation)};
  additions_to(record.offset).step = record.name;
  if (record.phase == 'p') {
    additions_to(operation.last).begun = other;
  } else {
    operation.step = other;
    operation.step_offset = record.offset;
  }
  operation.last = record.offset;
}

void AsyncSliceFinder::end_step(const Record& record, Operation& operation) {
  if (operation.step.name == kNoText) return;
  additions_to(record.offset).ended.push_back(std::exchange(operation.step, {}));
}

// Ends what is still open in an operation that has no more events. Inner slices end before those
// around them.
void AsyncSliceFinder::settle(Operation& operation) {
  if (operation.step.name != kNoText) additions_to(operation.step_offset).is_unended = true;
  for (auto begin = operation.open.rbegin(); begin != operation.open.rend(); ++begin) {
    const auto later = operation.stray_ends.lower_bound({begin->name, begin->start_ns});
    if (later != operation.stray_ends.end() && later->first == begin->name)
      operation.stray_ends.erase(later);
    else if (begin->around_end != kNone)
      additions_to(begin->around_end).ended.push_back({begin->name, kNoText});
    else
      additions_to(begin->offset).is_unended = true;
  }
}

AsyncAdditions& AsyncSliceFinder::additions_to(std::uint64_t offset) {
  AsyncAdditions& additions = additions_[offset];
  additions.offset = offset;
  return additions;
}

AsyncSlices AsyncSliceFinder::finish() {
  release(waiting_.size());
  for (auto& [key, operation] : operations_) settle(operation);
  AsyncSlices slices;
  slices.additions_.reserve(additions_.size());
  for (auto& [offset, additions] : additions_) slices.additions_.push_back(std::move(additions));
  std::ranges::sort(slices.additions_, {}, &AsyncAdditions::offset);
  if (slices.empty()) return slices;
  for (std::uint32_t i = 0; i < texts_.size(); ++i) slices.texts_.emplace_back(texts_[i]);
  return slices;
}

}  // namespace traceloom
