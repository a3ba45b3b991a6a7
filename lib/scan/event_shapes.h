// EventShapes: reads an event that looks like one before it.
//
//   if (const char* behind = shapes.read(at, end, event)) use(event);
//   else if (walk(at, event)) shapes.learn(event);
//
// A producer writes its events with a few format strings, so the text between the values (keys,
// colons, commas, indentation) is the same again and again; a real trace has ten to fifty such
// shapes. Phase, pid and tid count as such text. The shapes are kept as a trie. To read an event is
// to compare the text between two values with two SIMD instructions and to find the end of the next
// value; in the end it is known that the event is strict JSON, too.
#pragma once

#include "event/event.h"
#include "scan/known_lists.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

// What to do with the args of events.
enum class Args : std::uint8_t {
  read,  // as all the rest
  skip,  // by their braces only: for who does not want to know what they hold
};

// Never changes what an event is, only how fast it is read: what read() gives, EventWalk gives too.
// Not thread-safe. Memory: at most 300 KiB.
class EventShapes {
 public:
  // Args::read unless told otherwise; forgets all shapes when it is new.
  void set_args(Args args);

  // The event whose '{' stands at `at`, when it has a known shape, its strings are plain ASCII
  // without escapes, and some text follows it. Fills all of `event` but its offset and, for
  // Args::read, sets flags.strict. Returns the position behind its '}'; nullptr when it has to be
  // read in another way. `end` must be that of a string: a '\0' stands there.
  const char* read(const char* at, const char* end, Event& event);

  // Keeps the shape of an event, if there is room, the event is strict JSON without escapes and no
  // key of its args stands twice.
  // `event` must come from EventWalk and must not be empty.
  void learn(const Event& event);

  // Forgets all shapes when there is no room for more. To be called now and then: the shapes at the
  // beginning of a trace need not be those at its end.
  void make_room();

 private:
  enum class Value : std::uint8_t { integer, decimal, string, nested, args, none, other, end };

  // A text and the value behind it; one cache line.
  struct alignas(64) Node {
    static constexpr std::size_t kRoom = 32;
    std::array<char, kRoom> text{};  // from the end of the value before to the begin of this one;
                                     // the quotes of strings belong to it
    std::uint32_t ignored = 0;       // a bit for each byte of `text` behind text_size
    std::uint32_t child = 0;         // what may stand behind the value; 0: nothing
    std::uint32_t sibling = 0;       // what may stand in place of this; 0: nothing
    std::uint8_t text_size = 0;
    Value value = Value::none;
    std::uint8_t field = kKeyCount;  // the Key of the value
    std::uint8_t quotes = 0;         // 1: the field is a character longer on either side
    std::uint16_t first_mark = 0;
    std::uint16_t mark_count = 0;
    bool is_of_event = false;   // something of Event stands or ends here: not within args
    char phase = 0;             // of the Event, where it ends
    std::uint32_t present = 0;  // the same
  };
  // Where a field begins or ends within a node's text: of phase, pid and tid, which are part of the
  // shape, and of args, whose members are.
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
  // False when a text would have more alternatives than that.
  bool insert(const std::vector<Node>& path, const std::vector<std::vector<Mark>>& marks,
              int max_siblings);
  bool is_full() const;
  void forget();

  std::vector<Node> nodes_ = std::vector<Node>(1);  // [0].child: how an event may begin
  std::vector<Mark> marks_;
  KnownLists lists_;
  Args args_ = Args::read;
  int refused_ = 0;  // events that were not learnt
};

}  // namespace traceloom
