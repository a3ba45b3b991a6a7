#include "flows/flow_arrows.h"

#include "base/arithmetic.h"
#include "base/ascii.h"
#include "base/json_string.h"
#include "base/json_walk.h"
#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <utility>

namespace traceloom {

std::uint64_t FlowLabel::hash(const Event& event) {
  const std::string_view category = flow_category(event);
  const std::string_view name = event.text(Key::name);
  if (hash_ == 0 || category != category_ || name != name_) {
    category_ = category;
    name_ = name;
    const std::string label = decoded(category) + '\0' + decoded(string_or_nothing(name));
    hash_ = std::hash<std::string>()(label);
  }
  return hash_;
}

std::string_view id_key(std::string_view json_value, std::string& scratch) {
  if (is_json_string(json_value) || whole_id(json_value)) return json_value;
  scratch = canonical_id(json_value);
  return scratch;
}

TwoIds read_id2(std::string_view id2) {
  if (!is_strict_json(id2)) return {};
  return {find_member(id2, "local"), find_member(id2, "global")};
}

std::string_view flow_id_key(const Event& event, std::string& scratch) {
  if (const std::string_view id = event.text(Key::id); !is_absent_id(id))
    return id_key(id, scratch);
  if (!event.has(Key::id2)) return {};
  const auto [local, global] = read_id2(event.text(Key::id2));
  if (!is_absent_id(local)) {
    scratch = "local " + canonical_id(event.text(Key::pid)) + " ";
    scratch += local;
    return scratch;
  }
  // A global id and a plain id belong to the whole trace alike.
  return is_absent_id(global) ? std::string_view() : id_key(global, scratch);
}

namespace {

constexpr std::string_view kBindingPoint = "\"bp\"";

// Removes `end` and the white space before it from the end of a text; returns false if it is not
// there.
bool take_off(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  return true;
}

// Recognizes the text that torch writes for each of its arrows: this takes no walk through all
// members.
bool ends_bound_to_slice_around(std::string_view object) {
  return take_off(object, "}") && take_off(object, "\"e\"") && take_off(object, ":") &&
         object.ends_with(kBindingPoint) &&
         !object.substr(0, object.size() - kBindingPoint.size()).ends_with('\\');
}

}  // namespace

bool binds_to_next_slice(const Event& event) {
  if (event.phase != 'f' || ends_bound_to_slice_around(event.raw)) return false;
  return event.raw.find(kBindingPoint) == std::string_view::npos ||
         find_member(event.raw, "bp") != "\"e\"";
}

namespace {

// They tell 31, "31" and "0x1f" apart, which are three ids.
constexpr std::uint64_t kQuotedIds = 0x5851f42d4c957f2d;
constexpr std::uint64_t kHexIds = 0x94057b7ef767814f;

// Returns a number that is written in one way only: without leading zeros and in small letters.
std::optional<std::uint64_t> number_of(std::string_view digits, int base) {
  if (digits.empty() || digits.front() == '0') return std::nullopt;
  if (digits.find_first_of("ABCDEF") != std::string_view::npos) return std::nullopt;
  return whole_number<std::uint64_t>(digits, base);
}

// Returns a number for an id. Ids mostly follow each other, and so must their numbers, so that
// ArrowTally needs little memory. Only an id that is no number at all is hashed.
std::uint64_t number_of_id(std::string_view key) {
  if (const std::optional<std::uint64_t> number = number_of(key, 10)) return *number;
  if (is_json_string(key)) {
    const std::string_view text = unquoted(key);
    if (const std::optional<std::uint64_t> number = number_of(text, 10))
      return kQuotedIds + *number;
    constexpr std::string_view kHex = "0x";
    if (text.starts_with(kHex))
      if (const std::optional<std::uint64_t> number = number_of(text.substr(kHex.size()), 16))
        return kHexIds + *number;
  }
  return std::hash<std::string_view>()(key);
}

}  // namespace

void FlowEnds::add(const Event& event, std::int64_t start_ns) {
  const std::string_view id = flow_id_key(event, scratch_);
  if (id.empty()) return;
  ends_.push_back({.arrow = label_.hash(event) + number_of_id(id),
                   .ns = start_ns,
                   .offset = event.offset,
                   .is_start = event.phase == 's'});
}

namespace {

constexpr std::size_t kFirstSlots = 64;
constexpr std::uint64_t kMaxOffset = (std::uint64_t{1} << 63) - 1;
// Includes unordered_map's overhead per entry.
constexpr std::size_t kBytesOfPage = 112;

// Returns the preferred slot of a key. Ids mostly follow each other, so blocks of 64 keys stay
// together: if the table is larger than the caches, most accesses still meet the part that was used
// before.
std::size_t place_of(std::uint64_t key) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
  constexpr int kBlockBits = 6;
  const std::uint64_t block = (key >> kBlockBits) * kGolden;
  return (block >> 32U << kBlockBits) | (key & ((std::uint64_t{1} << kBlockBits) - 1));
}

std::size_t most_of(std::size_t slots) {
  return slots / 4 * 3;
}

}  // namespace

ArrowTally::ArrowTally(std::size_t max_bytes)
    : max_slots_(std::max(kFirstSlots, std::bit_floor(max_bytes / 2 / sizeof(Arrow)))),
      max_pages_(max_bytes / 2 / kBytesOfPage),
      slots_(kFirstSlots) {}

void ArrowTally::add(const FlowEnd& end) {
  const std::uint64_t key = std::max<std::uint64_t>(end.arrow, 1);
  Arrow* const arrow = find_or_add(key, end.offset);
  if (arrow == nullptr) return;
  if (end.is_start) {
    arrow->is_reused = arrow->start_ns != kNever;
    arrow->start_ns = end.ns;
  } else {
    arrow->end_ns = std::min(arrow->end_ns, end.ns);
  }
}

// Returns null for an arrow that is settled, and for one that finds no room.
ArrowTally::Arrow* ArrowTally::find_or_add(std::uint64_t key, std::uint64_t offset) {
  Arrow* arrow = &slot_of(key);
  if (arrow->key != 0) return arrow;
  if (is_settled(key)) return nullptr;
  if (!is_closed_ && used_ == most_of(slots_.size())) {
    make_room();
    arrow = &slot_of(key);
  }
  if (is_closed_) {
    if (unjudged_++ == 0) first_unjudged_ = offset;
    return nullptr;
  }
  *arrow = {.key = key, .offset = offset & kMaxOffset};
  ++used_;
  return arrow;
}

void ArrowTally::finish(ProblemCounts& problems) {
  std::int64_t widest_ns = 0;
  for (const Arrow& arrow : slots_) {
    if (arrow.key == 0 || (arrow.is_whole() && !arrow.is_backward())) continue;
    const Problem problem = arrow.is_whole() ? Problem::backward_arrow : Problem::dangling_arrow;
    problems.add(problem, arrow.offset);
    if (arrow.is_whole())
      widest_ns = std::max(widest_ns, saturating_subtract(arrow.start_ns, arrow.end_ns));
  }
  if (unjudged_ > 0) problems.add(Problem::unjudged_arrow, first_unjudged_, unjudged_);
  const std::string_view more = is_closed_ ? "at least; there were too many to look at all" : "";
  problems.explain(Problem::dangling_arrow, std::string(more));
  problems.explain(
      Problem::backward_arrow,
      fmt::format("by up to {}{}{}", format_duration(widest_ns), is_closed_ ? "; " : "", more));
  // The next file is probably like this one: its table need not grow again.
  slots_.assign(std::clamp(std::bit_ceil(used_ + used_ / 2), kFirstSlots, max_slots_), Arrow{});
  used_ = 0;
  settled_.clear();
  is_closed_ = false;
  unjudged_ = 0;
}

// Returns the slot of the arrow, or the free one for it.
ArrowTally::Arrow& ArrowTally::slot_of(std::uint64_t key) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = place_of(key) & mask;
  while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & mask;
  return slots_[at];
}

// Doubles the table, or drops settled arrows from the largest one. If that frees almost nothing,
// the tally closes: the next sweep would follow soon.
void ArrowTally::make_room() {
  const bool is_largest = slots_.size() == max_slots_;
  rebuild(is_largest ? max_slots_ : 2 * slots_.size(), is_largest);
  if (is_largest && used_ > most_of(max_slots_) / 8 * 7) is_closed_ = true;
}

// Copies the arrows into a new table. With `drops_whole`, only arrows that may still be reported
// stay.
void ArrowTally::rebuild(std::size_t slots, bool drops_whole) {
  const std::vector<Arrow> old = std::exchange(slots_, std::vector<Arrow>(slots));
  used_ = 0;
  for (const Arrow& arrow : old) {
    if (arrow.key == 0) continue;
    if (drops_whole && arrow.is_whole() && !arrow.is_backward()) {
      settle(arrow.key);
    } else {
      slot_of(arrow.key) = arrow;
      ++used_;
    }
  }
}

bool ArrowTally::is_settled(std::uint64_t key) const {
  if (settled_.empty()) return false;
  const auto page = settled_.find(key / kPageBits);
  return page != settled_.end() && page->second[key % kPageBits];
}

void ArrowTally::settle(std::uint64_t key) {
  if (settled_.size() >= max_pages_ && !settled_.contains(key / kPageBits)) {
    is_closed_ = true;
    return;
  }
  settled_[key / kPageBits].set(key % kPageBits);
}

void DisplacedEnds::add(const Event& event, std::int64_t start_ns) {
  const bool is_end = binds_to_next_slice(event);
  if (!is_end && event.phase != 'X' && event.phase != 'B') return;
  if (borders_.empty() || borders_.back().ns != start_ns) {
    if (borders_.size() == 2) close(borders_.back());
    if (borders_.size() < 2) borders_.emplace_back();
    borders_.back().ns = start_ns;
  }
  const std::hash<std::string_view> hash;
  const std::uint64_t row = hash(event.text(Key::pid)) * 3 + hash(event.text(Key::tid));
  borders_.back().marks.push_back({row, event.offset, is_end});
}

void DisplacedEnds::append(DisplacedEnds& later) {
  for (Moment& moment : later.borders_) {
    if (!borders_.empty() && borders_.back().ns == moment.ns) {
      std::vector<Mark>& marks = borders_.back().marks;
      marks.insert(marks.end(), moment.marks.begin(), moment.marks.end());
      continue;
    }
    if (!borders_.empty()) close(borders_.back());
    borders_.clear();
    borders_.push_back(std::move(moment));
  }
  displaced_.add(later.displaced_);
  later = {};
}

void DisplacedEnds::finish(ProblemCounts& problems) {
  for (Moment& moment : borders_) close(moment);
  problems.add(displaced_);
  *this = {};
}

void DisplacedEnds::close(Moment& moment) {
  std::vector<Mark>& marks = moment.marks;
  if (std::ranges::any_of(marks, &Mark::is_end))
    std::ranges::stable_sort(marks, {}, &Mark::row);
  else
    marks.clear();
  for (auto begin = marks.begin(); begin != marks.end();) {
    const auto end =
        std::find_if(begin, marks.end(), [&](const Mark& mark) { return mark.row != begin->row; });
    const auto last = std::find_if(std::reverse_iterator(end), std::reverse_iterator(begin),
                                   [](const Mark& mark) { return !mark.is_end; });
    if (last.base() != begin)
      for (auto late = last.base(); late != end; ++late)
        displaced_.add(Problem::displaced_arrow, late->offset);
    begin = end;
  }
  marks.clear();
}

}  // namespace traceloom
