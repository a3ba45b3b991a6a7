// Reads what looks like something that was read before: lists and whole events.
#pragma once

#include "event/event.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

// KnownLists: finds the end of a list that was met before.
//
//   const char* behind = lists.find(at, end);
//   if (behind == nullptr && (behind = skip_strict_value(at, end)) != nullptr)
//     lists.learn(at, behind, end);
//
// The lists in args ("Input Dims", "Input type", grids) are few and repeat: a torch trace of 60 MB
// has 400, and nine in ten are among the last 512. Comparing them takes a tenth of the time of
// reading them.

namespace traceloom {

// A known value can be recognised wherever it stands: brackets end it, whatever text follows. Not
// thread-safe. It takes 80 KiB of memory.
class KnownLists {
 public:
  static constexpr std::ptrdiff_t kRoom = 128;

  // Returns the position after the list or object that begins at `at` if it is known. Returns
  // nullptr if it is not, or if fewer than kRoom bytes are left.
  const char* find(const char* at, const char* end) {
    if (sets_.empty() || end - at < kRoom) return nullptr;
    Set& set = sets_[set_of(at)];
    for (std::size_t i = 0; i < kWays; ++i) {
      const std::uint8_t way = set.order[i];
      if (!set.tails[way].stands_in(at) || !set.texts[way].stands_at(at)) continue;
      if (i > 0) set.move_to_front(i);
      return at + set.texts[way].size;
    }
    return nullptr;
  }

  // Stores the list [at, behind), if it is short, in place of the one that was not met for the
  // longest time. Call it for lists that find() does not know. Like find(), it needs kRoom bytes.
  void learn(const char* at, const char* behind, const char* end) {
    if (behind - at > kRoom || end - at < kRoom) return;
    if (sets_.empty()) sets_.resize(std::size_t{1} << kSetBits);
    Set& set = sets_[set_of(at)];
    set.move_to_front(kWays - 1);
    const auto size = static_cast<std::uint32_t>(behind - at);
    set.tails[set.order.front()] = Tail::of(at, size);
    Text& text = set.texts[set.order.front()];
    std::memcpy(text.bytes.data(), at, size);
    text.size = size;
  }

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kSetBits = 7;

  static std::uint64_t word_at(const char* at) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
  }

  // The last 8 bytes of a list, or all of a shorter one. Lists that begin alike mostly have
  // different lengths, so this comparison alone rejects most of the others.
  struct Tail {
    std::uint64_t bytes = 1;  // matches nothing: no word masked by 0 equals 1
    std::uint64_t mask = 0;
    std::uint32_t at = 0;

    static Tail of(const char* list, std::uint32_t size) {
      Tail tail;
      tail.at = size > 8 ? size - 8 : 0;
      std::array<char, 8> mask{};
      std::memset(mask.data(), 0xff, size - tail.at);
      tail.mask = word_at(mask.data());
      tail.bytes = word_at(list + tail.at) & tail.mask;
      return tail;
    }
    bool stands_in(const char* list) const { return (word_at(list + at) & mask) == bytes; }
  };

  struct Text {
    std::array<char, kRoom> bytes{};
    std::uint32_t size = 0;

    bool stands_at(const char* list) const { return std::memcmp(bytes.data(), list, size) == 0; }
  };

  // A set of lists that begin alike: many lists differ only in their last members.
  struct Set {
    std::array<std::uint8_t, kWays> order{0, 1, 2, 3};  // numbers of the lists, the last met first
    std::array<Tail, kWays> tails;
    std::array<Text, kWays> texts;

    void move_to_front(std::size_t place) {
      const std::uint8_t way = order[place];
      for (; place > 0; --place) order[place] = order[place - 1];
      order.front() = way;
    }
  };

  // Chooses the set by the first 24 bytes. The text after a shorter list is nearly always the same,
  // too.
  static std::size_t set_of(const char* at) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    const std::uint64_t mixed =
        ((word_at(at) * kOdd ^ word_at(at + 8)) * kOdd ^ std::rotl(word_at(at + 16), 32)) * kOdd;
    return static_cast<std::size_t>(mixed >> (64 - kSetBits));
  }

  std::vector<Set> sets_;  // empty until the first list is learnt: many readers never meet one
};

// EventShapes: reads an event that has the same shape as an earlier one.
//
//   if (const char* behind = shapes.read(at, end, event)) use(event);
//   else if (walk(at, event)) shapes.learn(event);
//
// A producer writes its events with a few format strings, so the text between the values (keys,
// colons, commas, indentation) repeats. A real trace has ten to fifty such shapes. Phase, pid and
// tid count as part of that text. The shapes form a trie. Reading an event means comparing the text
// between two values with two SIMD instructions and finding the end of the next value. Afterwards
// the event is known to be strict JSON, too.

// The depth to which the args of events are read.
enum class Args : std::uint8_t {
  read,  // args are read like the rest
  skip,  // only the braces of args are read, for callers that do not need their content
};

// Shapes change only the speed: read() gives the same events as EventWalk. Not thread-safe. They
// take at most 300 KiB of memory.
class EventShapes {
 public:
  // Sets how args are read (Args::read by default). A new value forgets all shapes.
  void set_args(Args args);

  // Reads the event whose '{' stands at `at`. It must have a known shape, strings of plain ASCII
  // without escapes, and some text after it. Fills all of `event` except its offset; sets
  // flags.strict for Args::read. Returns the position after its '}', or nullptr if the event has to
  // be read in another way. `end` must be the end of a string: a '\0' stands there.
  const char* read(const char* at, const char* end, Event& event);

  // Stores the shape of an event if there is room, the event is strict JSON without escapes, and no
  // key of its args stands twice. `event` must come from EventWalk and must not be empty.
  void learn(const Event& event);

  // Forgets all shapes if there is no room for more. Call it from time to time: the shapes at the
  // beginning of a trace need not be those at its end.
  void make_room();

 private:
  enum class Value : std::uint8_t { integer, decimal, string, nested, args, none, other, end };

  // A text and the value after it; one cache line.
  struct alignas(64) Node {
    static constexpr std::size_t kRoom = 32;
    std::array<char, kRoom> text{};  // text from the end of the previous value to the begin of this
                                     // one, including the quotes of strings
    std::uint32_t ignored = 0;       // a bit for each byte of `text` after text_size
    std::uint32_t child = 0;         // first node that may follow the value; 0 for none
    std::uint32_t sibling = 0;       // next alternative to this node; 0 for none
    std::uint8_t text_size = 0;
    Value value = Value::none;
    std::uint8_t field = kKeyCount;  // the Key of the value
    std::uint8_t quotes = 0;         // 1 if the field is one character longer on both sides
    std::uint16_t first_mark = 0;
    std::uint16_t mark_count = 0;
    bool is_of_event = false;   // the node holds or ends a part of Event; false within args
    char phase = 0;             // phase of the Event that ends here
    std::uint32_t present = 0;  // `present` of the Event that ends here
  };
  // The begin or end of a field within a node's text. Phase, pid and tid have marks because they
  // are part of the shape, args because its members are.
  struct Mark {
    std::uint8_t field;
    bool is_end;
    std::uint8_t at;
  };
  class Learner;

  static bool stands_at(const Node& node, const char* at);
  static Value kind_of(const char* value);
  const char* skip_value(Value value, const char* at, const char* end);
  const char* skip_nested(const char* at, const char* end);
  void set_marks(const Node& node, std::uint32_t text_begin, Event& event) const;
  // Returns false if one text would have more than `max_siblings` alternatives.
  bool insert(const std::vector<Node>& path, const std::vector<std::vector<Mark>>& marks,
              int max_siblings);
  bool is_full() const;
  void forget();

  std::vector<Node> nodes_ = std::vector<Node>(1);  // [0].child is the first node of all events
  std::vector<Mark> marks_;
  KnownLists lists_;
  Args args_ = Args::read;
  int refused_ = 0;  // number of events that were not learnt
};

}  // namespace traceloom
