#include "memory/pickle.h"

#include "base/arithmetic.h"
#include "base/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace traceloom {

using Tag = PickleValue::Tag;

namespace {

constexpr std::int64_t kTrue = 1;
constexpr std::int64_t kFalse = 2;

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kMostShaped = 32;  // keys of a shape
constexpr std::size_t kLongestName = 256;
constexpr std::int64_t kGreatestInside = (std::int64_t{1} << 60) - 1;

constexpr std::uint64_t kMemoryAtLeast = std::uint64_t{64} << 20;
constexpr std::uint64_t kMemoryPerByte = 4;
constexpr std::uint64_t kMemoryAtMost = std::uint64_t{8} << 30;

// The opcodes that are refused by name. All others that are not read are refused by number.
constexpr std::pair<char, std::string_view> kRefused[] = {
    {'i', "INST"},  {'o', "OBJ"},       {'\x81', "NEWOBJ"},
    {'b', "BUILD"}, {'Q', "BINPERSID"}, {'\x82', "EXT1 (an extension)"},
};

// The globals that name a dictionary; the index is the payload of a callable.
enum class Callable : std::uint8_t { dict, default_dict, ordered_dict };
constexpr std::pair<std::string_view, Callable> kGlobals[] = {
    {"builtins.dict", Callable::dict},
    {"__builtin__.dict", Callable::dict},
    {"collections.defaultdict", Callable::default_dict},
    {"collections.OrderedDict", Callable::ordered_dict},
};
PickleValue value_of(Callable callable) {
  return {Tag::callable, static_cast<std::int64_t>(callable)};
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

}  // namespace

bool PickleDocument::is_dict(PickleValue value) const {
  const Object* const found = object(value);
  return found != nullptr && (found->kind == Kind::dict || found->kind == Kind::shaped);
}

bool PickleDocument::is_list(PickleValue value) const {
  return object(value) != nullptr && !is_dict(value);
}

std::span<const PickleValue> PickleDocument::items(PickleValue value) const {
  if (!is_list(value)) return {};
  const Object& list = at(value.index());
  return {list.values, list.size};
}

std::size_t PickleDocument::size(PickleValue dict) const {
  if (!is_dict(dict)) return 0;
  const Object& found = at(dict.index());
  return found.kind == Kind::shaped ? found.size : found.size / 2;
}

PickleValue PickleDocument::key(PickleValue dict, std::size_t i) const {
  const Object& found = at(dict.index());
  return found.kind == Kind::shaped ? shapes_[found.room][i] : found.values[2 * i];
}

PickleValue PickleDocument::value(PickleValue dict, std::size_t i) const {
  const Object& found = at(dict.index());
  return found.values[found.kind == Kind::shaped ? i : 2 * i + 1];
}

PickleValue PickleDocument::find_text(std::string_view name) const {
  const auto id = texts_.find(name);
  return id ? PickleValue(Tag::text, *id) : PickleValue(Tag::text, -1);
}

PickleValue PickleDocument::member(PickleValue dict, PickleValue name) const {
  for (std::size_t i = size(dict); i-- > 0;)
    if (key(dict, i) == name) return value(dict, i);
  return {};
}

PickleValue PickleDocument::member(PickleValue dict, std::string_view name) const {
  return member(dict, find_text(name));
}

std::optional<std::string_view> PickleDocument::text(PickleValue value) const {
  if (value.tag() != Tag::text || value.payload() < 0) return std::nullopt;
  return texts_[static_cast<std::uint32_t>(value.index())];
}

std::optional<std::int64_t> PickleDocument::integer(PickleValue value) const {
  if (value.tag() == Tag::integer) return value.payload();
  const auto wide = address(value);
  if (!wide || *wide > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return static_cast<std::int64_t>(*wide);
}

std::optional<std::uint64_t> PickleDocument::address(PickleValue value) const {
  if (value.tag() == Tag::address) return addresses_[value.index()];
  if (value.tag() != Tag::integer || value.payload() < 0) return std::nullopt;
  return static_cast<std::uint64_t>(value.payload());
}

std::optional<double> PickleDocument::number(PickleValue value) const {
  if (value.tag() == Tag::number) return numbers_[value.index()];
  if (value.tag() == Tag::integer) return static_cast<double>(value.payload());
  const auto wide = address(value);
  return wide ? std::optional(static_cast<double>(*wide)) : std::nullopt;
}

std::optional<bool> PickleDocument::flag(PickleValue value) const {
  if (value.tag() != Tag::constant || value.is_none()) return std::nullopt;
  return value.payload() == kTrue;
}

std::string_view PickleDocument::kind(PickleValue value) const {
  // In the order of the tags.
  constexpr std::string_view kKinds[] = {"a flag", "a number", "a number", "a text",
                                         "a list", "a number", "a class",  "a number"};
  if (value.is_none()) return "None";
  return is_dict(value) ? "a dictionary" : kKinds[static_cast<std::size_t>(value.tag())];
}

// Executes the opcodes of one pickle. Its functions run_*() return false for an opcode that is not
// theirs.
class PickleReader {
 public:
  PickleReader(ByteSource& source, const std::string& name)
      : source_(source), name_(name), buffer_(kBufferBytes) {}

  PickleDocument read() {
    begin();
    while (true) {
      opcode_at_ = offset();
      const char opcode = take(1)[0];
      if (opcode == '.') break;
      if (!run_memo(opcode) && !run_constant(opcode) && !run_fill(opcode) &&
          !run_container(opcode) && !run_call(opcode))
        refuse_opcode(opcode);
    }
    document_.root_ = pop();
    document_.trailing_bytes_ = end_ - at_;
    while (const std::size_t more = source_.read(buffer_)) document_.trailing_bytes_ += more;
    source_.check_unchanged();
    return std::move(document_);
  }

 private:
  using Kind = PickleDocument::Kind;
  using Object = PickleDocument::Object;

  std::uint64_t offset() const { return read_ - (end_ - at_); }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(name_, opcode_at_, problem);
  }
  [[noreturn]] void refuse_opcode(char opcode) const {
    const auto number = static_cast<unsigned>(static_cast<unsigned char>(opcode));
    for (const auto& [refused, name] : kRefused)
      if (refused == opcode)
        refuse(fmt::format("opcode {} is refused: no memory file needs it, and it may run code",
                           name));
    refuse(fmt::format("opcode {:#04x} is refused: no memory file needs it", number));
  }

  void begin() {
    opcode_at_ = 0;
    const std::string_view head = take(2);
    if (head[0] != '\x80') refuse("is no pickle of protocol 2 to 5");
    const auto protocol = static_cast<unsigned>(static_cast<unsigned char>(head[1]));
    if (protocol < 2 || protocol > 5)
      refuse(
          fmt::format("protocol {} is not known; pickles of protocol 2 to 5 are read", protocol));
  }

  // --- bytes

  // The next bytes, which are valid until the next call.
  std::string_view take(std::size_t bytes) {
    if (end_ - at_ < bytes) refill(bytes);
    at_ += bytes;
    return {buffer_.data() + at_ - bytes, bytes};
  }
  std::uint64_t take_number(std::size_t bytes) { return little_endian(take(bytes)); }

  void refill(std::size_t bytes) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
    // A text without its bytes in the file takes no memory for them.
    while (end_ < bytes) {
      if (end_ == buffer_.size()) buffer_.resize(std::min(2 * buffer_.size(), bytes));
      const std::size_t more = source_.read(std::span(buffer_).subspan(end_));
      if (more == 0) refuse("the file ends inside its pickle: it is cut; copy or record it again");
      end_ += more;
      read_ += more;
    }
    check_memory();
  }
  std::string_view take_text(std::uint64_t bytes) {
    if (bytes > kLongestPickleText)
      refuse(fmt::format("a length of {} bytes; texts and integers have at most {}", bytes,
                         kLongestPickleText));
    return take(static_cast<std::size_t>(bytes));
  }
  std::string take_line() {
    std::string line;
    for (char c = take(1)[0]; c != '\n'; c = take(1)[0])
      if (line.size() < kLongestName) line += c;
    return line;
  }

  void check_memory() const {
    const std::uint64_t used =
        values_ * sizeof(PickleValue) + document_.objects_ * sizeof(Object) +
        (stack_.size() + marks_.size() + memo_.size()) * sizeof(PickleValue) +
        far_memo_.size() * 8 * sizeof(PickleValue) + text_bytes_;
    if (used > std::min(kMemoryAtMost, kMemoryAtLeast + kMemoryPerByte * read_))
      refuse(fmt::format("its objects need {} bytes of memory, too many for {} bytes of pickle",
                         used, read_));
  }

  // --- the stack

  // Returns true, as all that executes an opcode does.
  bool push(PickleValue value) {
    stack_.push_back(value);
    return true;
  }
  PickleValue pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse_empty();
    const PickleValue value = stack_.back();
    stack_.pop_back();
    return value;
  }
  [[noreturn]] void refuse_empty() const { refuse("the stack is empty: this pickle is damaged"); }
  // The values above the last mark; the next values that are popped take their place.
  std::span<const PickleValue> pop_to_mark() {
    if (marks_.empty()) refuse("there is no mark on the stack: this pickle is damaged");
    const std::size_t from = marks_.back();
    marks_.pop_back();
    return pop_from(from);
  }
  std::span<const PickleValue> pop_some(std::size_t count) {
    if (stack_.size() - (marks_.empty() ? 0 : marks_.back()) < count) refuse_empty();
    return pop_from(stack_.size() - count);
  }
  std::span<const PickleValue> pop_from(std::size_t from) {
    popped_.assign(stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
    stack_.resize(from);
    return popped_;
  }
  PickleValue top() {
    push(pop());
    return stack_.back();
  }

  // --- containers

  PickleValue make(Kind kind, std::span<const PickleValue> values = {}) {
    if (document_.objects_ % PickleDocument::kBlock == 0)
      document_.object_blocks_.push_back(
          std::make_unique_for_overwrite<Object[]>(PickleDocument::kBlock));
    const PickleValue made(Tag::object, static_cast<std::int64_t>(document_.objects_++));
    Object& object = document_.at(made.index());
    object = {nullptr, 0, 0, kind, 0};
    append(object, values);
    return made;
  }

  // Returns room for so many values, which goes on at free_ if it can.
  PickleValue* room_for(std::size_t count) {
    if (free_left_ < count) {
      free_left_ = std::max(count, PickleDocument::kBlock);
      document_.value_blocks_.push_back(std::make_unique_for_overwrite<PickleValue[]>(free_left_));
      free_ = document_.value_blocks_.back().get();
    }
    PickleValue* const room = free_;
    take_room(count);
    return room;
  }
  void take_room(std::size_t count) {
    free_ += count;
    free_left_ -= count;
    values_ += count;
  }

  // Moves the values of an object unless they have room, or can have some after them.
  void append(Object& object, std::span<const PickleValue> values) {
    const std::size_t wanted = object.size + values.size();
    if (wanted > UINT32_MAX / 2) refuse("a list has more than 2^31 items");
    if (wanted > object.room) {
      const std::size_t more = wanted - object.room;
      if (object.values != nullptr && object.values + object.room == free_ && free_left_ >= more) {
        take_room(more);
        object.room = static_cast<std::uint32_t>(wanted);
      } else {
        const std::size_t room = object.size == 0 ? wanted : 2 * wanted;  // most are filled once
        PickleValue* const moved = room_for(room);
        std::copy_n(object.values, object.size, moved);
        object.values = moved;
        object.room = static_cast<std::uint32_t>(room);
      }
    }
    std::copy(values.begin(), values.end(), object.values + object.size);
    object.size = static_cast<std::uint32_t>(wanted);
    deepen(object, values);
  }

  void deepen(Object& object, std::span<const PickleValue> values) {
    for (const PickleValue value : values) {
      const Object* const inner = document_.object(value);
      if (inner == nullptr || inner->depth < object.depth) continue;
      object.depth = static_cast<std::uint8_t>(inner->depth + 1);
      if (object.depth > kDeepestPickle)
        refuse(fmt::format("values are nested more than {} deep", kDeepestPickle));
    }
  }

  bool append_to_top(std::span<const PickleValue> values) {
    const PickleValue list = top();
    if (document_.object(list) == nullptr || document_.object(list)->kind != Kind::list)
      refuse("APPEND to what is no list: this pickle is damaged");
    append(document_.at(list.index()), values);
    return true;
  }
  bool push_dict(std::span<const PickleValue> pairs) {
    push(make(Kind::dict));
    return set_in_top(pairs);
  }
  bool set_in_top(std::span<const PickleValue> pairs) {
    const PickleValue dict = top();
    if (!document_.is_dict(dict))
      refuse("SETITEM in what is no dictionary: this pickle is damaged");
    if (pairs.size() % 2 != 0) refuse("an odd number of keys and values: this pickle is damaged");
    for (std::size_t i = 0; i < pairs.size(); i += 2)
      if (const Tag tag = pairs[i].tag();
          tag != Tag::text && tag != Tag::integer && tag != Tag::address)
        refuse(fmt::format("{} as a key of a dictionary; texts and integers are read",
                           document_.kind(pairs[i])));
    Object& object = document_.at(dict.index());
    if (object.size == 0 && !pairs.empty() && pairs.size() <= 2 * kMostShaped)
      shape(object, pairs);
    else
      append(unshaped(object), pairs);
    return true;
  }

  // Gives an empty dictionary these members, with the shape of their keys.
  void shape(Object& object, std::span<const PickleValue> pairs) {
    keys_.clear();
    shaped_.clear();
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
      keys_.push_back(pairs[i]);
      shaped_.push_back(pairs[i + 1]);
    }
    const std::string_view bytes(reinterpret_cast<const char*>(keys_.data()),
                                 keys_.size() * sizeof(PickleValue));
    const std::uint32_t id = shape_ids_.intern(bytes);
    if (id == document_.shapes_.size()) document_.shapes_.push_back(keys_);
    append(object, shaped_);
    object.kind = Kind::shaped;
    object.room = id;
  }

  // Returns the dictionary with keys and values in turn, so that it can grow.
  Object& unshaped(Object& object) {
    if (object.kind != Kind::shaped) return object;
    const std::vector<PickleValue>& keys = document_.shapes_[object.room];
    std::vector<PickleValue> pairs;
    for (std::size_t i = 0; i < object.size; ++i) {
      pairs.push_back(keys[i]);
      pairs.push_back(object.values[i]);
    }
    object = {nullptr, 0, 0, Kind::dict, object.depth};
    append(object, pairs);
    return object;
  }

  bool run_fill(char opcode) {
    if (opcode == '(') return push_mark();
    if (opcode == 'a') return append_to_top(pop_some(1));
    if (opcode == 'e') return append_to_top(pop_to_mark());
    if (opcode == 's') return set_in_top(pop_some(2));
    if (opcode == 'u') return set_in_top(pop_to_mark());
    if (opcode == '0') return drop();
    if (opcode != '1') return false;
    pop_to_mark();
    return true;
  }
  bool push_mark() {
    marks_.push_back(stack_.size());
    return true;
  }
  bool drop() {
    if (!marks_.empty() && marks_.back() == stack_.size())
      marks_.pop_back();  // a mark, too
    else
      pop();
    return true;
  }

  bool run_container(char opcode) {
    if (opcode == '}') return push(make(Kind::dict));
    if (opcode == ']') return push(make(Kind::list));
    if (opcode == ')') return push(make(Kind::tuple));
    if (opcode == 't') return push(make(Kind::tuple, pop_to_mark()));
    if (opcode == 'l') return push(make(Kind::list, pop_to_mark()));
    if (opcode == 'd') return push_dict(pop_to_mark());
    if (opcode == '\x85') return push(make(Kind::tuple, pop_some(1)));
    if (opcode == '\x86') return push(make(Kind::tuple, pop_some(2)));
    return opcode == '\x87' && push(make(Kind::tuple, pop_some(3)));
  }

  // --- memo

  bool run_memo(char opcode) {
    if (opcode == 'h') return push(remembered(take_number(1)));
    if (opcode == 'j') return push(remembered(take_number(4)));
    if (opcode == '\x94') return remember(memo_.size() + far_memo_.size());
    if (opcode == 'q') return remember(take_number(1));
    return opcode == 'r' && remember(take_number(4));
  }
  PickleValue remembered(std::uint64_t index) const {
    if (index < memo_.size()) return memo_[index];
    const auto found = far_memo_.find(index);
    if (found == far_memo_.end())
      refuse(fmt::format("memo {} was never set: this pickle is damaged", index));
    return found->second;
  }
  bool remember(std::uint64_t index) {
    const PickleValue value = top();
    if (index < memo_.size())
      memo_[index] = value;
    else if (index == memo_.size() && far_memo_.empty())
      memo_.push_back(value);
    else
      far_memo_[index] = value;
    return true;
  }

  // --- constants

  bool run_constant(char opcode) {
    if (opcode == 'K') return push_integer(static_cast<std::int64_t>(take_number(1)));
    if (opcode == 'M') return push_integer(static_cast<std::int64_t>(take_number(2)));
    if (opcode == 'J') return push_integer(static_cast<std::int32_t>(take_number(4)));
    if (opcode == '\x8a') return push_long(take_number(1));
    if (opcode == '\x8b') return push_long_4();
    if (opcode == '\x8c') return push_text(take_number(1));
    if (opcode == 'X') return push_text(take_number(4));
    if (opcode == '\x8d') return push_text(take_number(8));
    if (opcode == 'N') return push(PickleValue{});
    if (opcode == '\x88') return push(PickleValue(Tag::constant, kTrue));
    if (opcode == '\x89') return push(PickleValue(Tag::constant, kFalse));
    if (opcode == 'G') return push_number(take(8));
    return opcode == '\x95' && !take(8).empty();  // FRAME: its text is not read at once
  }
  bool push_integer(std::int64_t number) { return push(PickleValue(Tag::integer, number)); }
  // Keeps a number that does not fit into a value.
  template <class Number>
  bool push_kept(Tag tag, Number number, std::vector<Number>& numbers) {
    numbers.push_back(number);
    return push(PickleValue(tag, std::ssize(numbers) - 1));
  }
  bool push_number(std::string_view bytes) {
    const std::string turned(bytes.rbegin(), bytes.rend());
    return push_kept(Tag::number, std::bit_cast<double>(little_endian(turned)), document_.numbers_);
  }
  bool push_long_4() {
    const auto bytes = static_cast<std::int32_t>(take_number(4));
    if (bytes < 0) refuse(fmt::format("an integer of negative length: {}", bytes));
    return push_long(static_cast<std::uint64_t>(bytes));
  }
  // Little-endian, in two's complement. An integer that does not fit into 64 bits is only large.
  bool push_long(std::uint64_t bytes) {
    std::string_view digits = take_text(bytes);
    const bool is_negative = !digits.empty() && (digits.back() & 0x80) != 0;
    while (digits.size() > 8 && digits.back() == (is_negative ? '\xff' : '\0'))
      digits.remove_suffix(1);
    if (digits.size() > 8) return push(PickleValue(Tag::large, 0));
    const std::uint64_t number = little_endian(digits);
    const Int128 whole = Int128{is_negative ? -1 : 0} << 8 * digits.size() | number;
    if (whole >= -kGreatestInside && whole <= kGreatestInside)
      return push_integer(static_cast<std::int64_t>(whole));
    return is_negative ? push(PickleValue(Tag::large, 0))
                       : push_kept(Tag::address, number, document_.addresses_);
  }

  // --- texts and calls

  bool push_text(std::uint64_t bytes) {
    const std::size_t known = document_.texts_.size();
    const std::uint32_t id = document_.texts_.intern(take_text(bytes));
    if (id == known) text_bytes_ += bytes + 4 * sizeof(PickleValue);
    return push(PickleValue(Tag::text, id));
  }

  bool run_call(char opcode) {
    if (opcode == 'c') {
      const std::string module = take_line();
      return push_global(module, take_line());
    }
    if (opcode == '\x93') {
      const auto name = document_.text(pop());
      const auto module = document_.text(pop());
      if (!name || !module) refuse("a global without a name: this pickle is damaged");
      return push_global(std::string(*module), std::string(*name));
    }
    if (opcode != 'R') return false;
    const PickleValue arguments = pop();
    return push(call(pop(), document_.items(arguments)));
  }
  bool push_global(const std::string& module, const std::string& name) {
    const std::string global = fmt::format("{}.{}", module, name);
    for (const auto& [known, callable] : kGlobals)
      if (known == global) return push(value_of(callable));
    throw NoMemoryFile(name_, opcode_at_,
                       fmt::format("the global {} is refused: code of a file is never run",
                                   global.substr(0, 2 * kLongestName)));
  }
  // Makes the dictionary that a call of one of the known globals stands for.
  PickleValue call(PickleValue callable, std::span<const PickleValue> arguments) {
    const bool takes_dict = callable == value_of(Callable::default_dict);
    const bool fits = takes_dict
                          ? arguments.size() == 1 && arguments[0] == value_of(Callable::dict)
                          : callable == value_of(Callable::ordered_dict) && arguments.empty();
    if (!fits) refuse("REDUCE, a call, is refused: code of a file is never run");
    return make(Kind::dict);
  }

  ByteSource& source_;
  const std::string& name_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t read_ = 0;  // bytes of the source
  std::uint64_t opcode_at_ = 0;

  PickleDocument document_;
  std::vector<PickleValue> stack_;
  std::vector<PickleValue> popped_;
  std::vector<std::size_t> marks_;  // sizes of the stack
  std::vector<PickleValue> memo_;
  std::unordered_map<std::uint64_t, PickleValue> far_memo_;  // beyond the end of the first
  PickleValue* free_ = nullptr;                              // room for values in the last block
  std::size_t free_left_ = 0;
  std::uint64_t values_ = 0;  // values that have room
  StringTable shape_ids_;
  std::vector<PickleValue> keys_;
  std::vector<PickleValue> shaped_;
  std::uint64_t text_bytes_ = 0;
};

PickleDocument read_pickle(ByteSource& source, const std::string& name) {
  return PickleReader(source, name).read();
}

bool is_pickle(std::string_view head) {
  return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2;
}

}  // namespace traceloom
