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
#pragma once

#include "event/event.h"
#include "scan/known_lists.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

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
