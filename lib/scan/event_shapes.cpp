#include "scan/event_shapes.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/json_walk.h"
#include "scan/event_key.h"
#include "scan/text_index.h"

#include <algorithm>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace traceloom {
namespace {

constexpr std::size_t kMaxNodes = 1500;
// The most nodes of one event; no format string has more members.
constexpr std::size_t kMaxPath = 100;

// The most texts that may follow one value if pid and tid are part of them; events of further
// tracks share a shape.
constexpr int kMaxTracks = 8;
// The most texts that may follow one value otherwise. A producer with more keys at one place
// generates them; comparing them one by one, or trying to learn every event, would take longer than
// to walk the events.
constexpr int kMaxSiblings = 64;
constexpr int kMaxRefused = 50;
// The number of bytes that must be left of the text: room for a node's text and for a number after
// it.
constexpr std::ptrdiff_t kMargin = 64;

bool is_nested(char first) {
  return first == '{' || first == '[';
}

}  // namespace

// Splits the text of one event into nodes. The text must be strict JSON without escapes.
class EventShapes::Learner {
 public:
  Learner(const Event& event, Args args, bool with_track)
      : event_(event),
        args_(args),
        with_track_(with_track),
        copy_(std::string(event.raw) + std::string(kMargin, '\0')),
        at_(copy_.data()),
        end_(at_ + event.raw.size()),
        text_(at_) {}

  // Returns false if the event has too many values.
  bool run() {
    read_members(false);
    add_text(at_, Value::end, kKeyCount);
    path_.back().present = event_.present;
    path_.back().phase = event_.phase;
    return path_.size() <= kMaxPath;
  }

  const std::vector<Node>& path() const { return path_; }
  const std::vector<std::vector<Mark>>& marks() const { return marks_; }

 private:
  void skip_space() {
    while (is_space(*at_)) ++at_;
  }

  // Reads from the '{' of the event, or of its args, to the position after its '}'.
  void read_members(bool in_args) {
    ++at_;
    skip_space();
    while (*at_ != '}') {
      if (*at_ == ',') {
        ++at_;
        skip_space();
      }
      const char* const key = at_ + 1;
      at_ = skip_plain_characters(key, end_) + 1;
      const std::string_view name(key, static_cast<std::size_t>(at_ - 1 - key));
      skip_space();
      ++at_;  // the colon
      skip_space();
      read_value(
          in_args ? std::uint8_t{kKeyCount} : static_cast<std::uint8_t>(kEventKeys.find(name)),
          in_args);
      skip_space();
    }
    ++at_;
  }

  void read_value(std::uint8_t field, bool in_args) {
    const bool is_args = field == static_cast<std::uint8_t>(Key::args) && *at_ == '{';
    if (is_args && args_ == Args::skip) {
      add_text(at_, Value::args, field);
      text_ = at_ = skip_strict_value(at_, end_);
      return;
    }
    if (is_args || is_part_of_shape(field)) {
      add_mark(field, false);
      if (is_args)
        read_members(true);
      else
        at_ = skip_strict_value(at_, end_);
      add_mark(field, true);
      return;
    }
    if (*at_ == '"') {
      add_text(at_ + 1, Value::string, in_args ? std::uint8_t{kKeyCount} : field);
      text_ = skip_plain_characters(at_ + 1, end_);
      at_ = text_ + 1;
      return;
    }
    add_text(at_, kind_of(at_), field);
    text_ = at_ = skip_strict_value(at_, end_);
  }

  bool is_part_of_shape(std::uint8_t field) const {
    const bool is_track = field == static_cast<std::uint8_t>(Key::pid) ||
                          field == static_cast<std::uint8_t>(Key::tid);
    return field == static_cast<std::uint8_t>(Key::ph) ||
           (is_track && with_track_ && !is_nested(*at_));
  }

  void add_mark(std::uint8_t field, bool is_end) {
    const std::size_t place = static_cast<std::size_t>(at_ - text_);
    open_marks_.resize(std::max(open_marks_.size(), place / Node::kRoom + 1));
    open_marks_[place / Node::kRoom].push_back(
        {field, is_end, static_cast<std::uint8_t>(place % Node::kRoom)});
  }

  // Adds the text up to `to`, in as many nodes as it needs.
  void add_text(const char* to, Value value, std::uint8_t field) {
    open_marks_.resize(static_cast<std::size_t>(to - text_) / Node::kRoom + 1);
    for (std::size_t part = 0; text_ != to; ++part) {
      const std::size_t size = std::min(static_cast<std::size_t>(to - text_), Node::kRoom);
      Node node;
      std::copy_n(text_, size, node.text.begin());
      node.text_size = static_cast<std::uint8_t>(size);
      node.ignored = size == Node::kRoom ? 0 : ~std::uint32_t{0} << size;
      text_ += size;
      if (text_ == to) {
        node.value = value;
        node.field = field;
        node.quotes = value == Value::string ? 1 : 0;
      }
      path_.push_back(node);
      marks_.push_back(std::move(open_marks_[part]));
    }
    open_marks_.clear();
  }

  const Event& event_;
  Args args_;
  bool with_track_;
  std::string copy_;  // a copy of the event with room after it
  const char* at_;
  const char* end_;
  const char* text_;  // start of the text that is not yet in path_
  std::vector<Node> path_;
  std::vector<std::vector<Mark>> marks_;       // the marks of the nodes in path_
  std::vector<std::vector<Mark>> open_marks_;  // the marks of the nodes that the text from text_ on
                                               // will become
};

void EventShapes::learn(const Event& event) {
  const EventFlags flags = event.flags;
  if (is_full() || flags.suspect_text || flags.loose_syntax || flags.duplicate_key ||
      flags.escaped_key || !is_strict_json(event.raw, kMaxSkippedDepth) ||
      repeats_key(event.text(Key::args)))
    return;
  // A value that is an empty string, or no string, is no phase.
  if (event.has(Key::ph) && event.phase == 0) return;
  for (const bool with_track : {true, false}) {
    const int max_siblings = with_track ? kMaxTracks : kMaxSiblings;
    Learner learner(event, args_, with_track);
    if (learner.run() && insert(learner.path(), learner.marks(), max_siblings)) return;
  }
  ++refused_;
}

void EventShapes::set_args(Args args) {
  if (args_ == args) return;
  args_ = args;
  forget();
}

bool EventShapes::is_full() const {
  return nodes_.size() > kMaxNodes || refused_ > kMaxRefused;
}

void EventShapes::make_room() {
  if (is_full()) forget();
}

void EventShapes::forget() {
  nodes_.assign(1, Node{});
  marks_.clear();
  refused_ = 0;
}

bool EventShapes::insert(const std::vector<Node>& path, const std::vector<std::vector<Mark>>& marks,
                         int max_siblings) {
  std::size_t parent = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto is_same = [&](const Node& node) {
      return node.text == path[i].text && node.text_size == path[i].text_size &&
             node.value == path[i].value;
    };
    std::uint32_t* link = &nodes_[parent].child;
    int siblings = 0;
    for (; *link != 0 && !is_same(nodes_[*link]); ++siblings) link = &nodes_[*link].sibling;
    if (*link == 0) {
      if (siblings >= max_siblings) return false;
      *link = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back(path[i]);
      nodes_.back().first_mark = static_cast<std::uint16_t>(marks_.size());
      nodes_.back().mark_count = static_cast<std::uint16_t>(marks[i].size());
      nodes_.back().is_of_event =
          !marks[i].empty() || path[i].field != kKeyCount || path[i].value == Value::end;
      marks_.insert(marks_.end(), marks[i].begin(), marks[i].end());
      parent = nodes_.size() - 1;
    } else {
      parent = *link;
    }
  }
  return true;
}

// Reads the full size of Node::text after `at`.
inline bool EventShapes::stands_at(const Node& node, const char* at) {
#if defined(__SSE2__)
  const auto equal = [&](std::size_t from) {
    const __m128i text = _mm_load_si128(reinterpret_cast<const __m128i*>(&node.text[from]));
    const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + from));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(text, here)));
  };
  if (node.text_size <= 16) return ((equal(0) | node.ignored) & 0xffffU) == 0xffffU;
  return (equal(0) | equal(16) << 16 | node.ignored) == ~std::uint32_t{0};
#else
  return std::memcmp(node.text.data(), at, node.text_size) == 0;
#endif
}

// `value` is not a string.
EventShapes::Value EventShapes::kind_of(const char* value) {
  if (is_nested(*value)) return Value::nested;
  if (skip_plain_integer(value) != nullptr) return Value::integer;
  return skip_plain_decimal(value) != nullptr ? Value::decimal : Value::other;
}

inline const char* EventShapes::skip_nested(const char* at, const char* end) {
  if (!is_nested(*at)) return nullptr;
  if (const char* const behind = lists_.find(at, end)) return behind;
  const char* const behind = skip_strict_value(at, end);
  if (behind != nullptr) lists_.learn(at, behind, end);
  return behind;
}

// The ends of numbers and words need no check: the next node's text must stand there.
inline const char* EventShapes::skip_value(Value value, const char* at, const char* end) {
  switch (value) {
    case Value::integer:
      return skip_plain_integer(at);
    case Value::decimal:
      return skip_plain_decimal(at);
    case Value::string:
      at = skip_plain_characters(at, end);
      return *at == '"' ? at : nullptr;
    case Value::nested:
      return skip_nested(at, end);
    case Value::args:
      return *at == '{' ? skip_plain_object(at, end) : nullptr;
    case Value::other:
      // A usual number must take the way of its own kind: what follows a null need not follow a
      // number.
      return *at != '"' && kind_of(at) == Value::other ? skip_strict_value(at, end) : nullptr;
    default:
      return at;
  }
}

inline void EventShapes::set_marks(const Node& node, std::uint32_t text_begin, Event& event) const {
  for (std::size_t i = 0; i < node.mark_count; ++i) {
    const Mark& mark = marks_[node.first_mark + i];
    FieldRange& range = event.fields[mark.field];
    (mark.is_end ? range.end : range.begin) = text_begin + mark.at;
  }
}

const char* EventShapes::read(const char* at, const char* end, Event& event) {
  const char* const begin = at;
  if (end - begin < kMargin) return nullptr;
  const char* const limit = end - kMargin;
  const auto place = [&](const char* position) {
    return static_cast<std::uint32_t>(position - begin);
  };
  const Node* const nodes = nodes_.data();
  std::size_t index = nodes->child;
  while (index != 0) {
    const Node& node = nodes[index];
    if (at > limit) return nullptr;
    const char* const value = at + node.text_size;
    const char* const behind = stands_at(node, at) ? skip_value(node.value, value, end) : nullptr;
    if (behind == nullptr) {
      index = node.sibling;
      continue;
    }
    if (node.is_of_event) {
      if (node.mark_count != 0) set_marks(node, place(at), event);
      if (node.field != kKeyCount)
        event.fields[node.field] = {place(value) - node.quotes, place(behind) + node.quotes};
      if (node.value == Value::end) {
        event.raw = {begin, static_cast<std::size_t>(behind - begin)};
        event.phase = node.phase;
        event.present = node.present;
        event.flags = {};
        event.flags.strict = args_ == Args::read;
        return behind;
      }
    }
    at = behind;
    index = node.child;
  }
  return nullptr;
}

}  // namespace traceloom
