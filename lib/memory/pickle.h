// PickleDocument: what a pickle holds, without running it.
//
//   const PickleDocument document = read_pickle(*source, "snapshot.pickle");
//   for (const PickleValue one : document.items(document.member(document.root(), "segments")))
//     use(document.integer(document.member(one, "total_size")));
//
// A pickle is a program for a stack machine. This reader executes the opcodes that plain data
// needs, of protocols 2 to 5: none, flags, numbers, texts, lists, tuples and dictionaries. The only
// globals are dict, collections.defaultdict and collections.OrderedDict, as names of a dictionary;
// nothing is ever looked up or called, and any other global or opcode ends the reading.
//
// Values are a graph: parts are shared, and a list may hold itself. So nobody walks all of it.
#pragma once

#include "base/problems.h"
#include "base/string_table.h"
#include "input/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

inline constexpr std::uint8_t kDeepestPickle = 64;  // levels of values in values
inline constexpr std::size_t kLongestPickleText = std::size_t{16} << 20;

// A pickle of something else than memory.
class NoMemoryFile : public Error {
 public:
  using Error::Error;
};

// A value of a document in 8 bytes: its tag, and a small number or a place in the document.
class PickleValue {
 public:
  enum class Tag : std::uint8_t {
    constant,
    integer,
    address,
    text,
    object,
    number,
    callable,
    large
  };

  PickleValue() = default;  // None
  PickleValue(Tag tag, std::int64_t payload)
      : bits_(static_cast<std::uint64_t>(payload) << kTagBits | static_cast<std::uint64_t>(tag)) {}

  Tag tag() const { return static_cast<Tag>(bits_ & ((1U << kTagBits) - 1)); }
  std::int64_t payload() const { return static_cast<std::int64_t>(bits_) >> kTagBits; }
  std::size_t index() const { return static_cast<std::size_t>(payload()); }
  bool is_none() const { return bits_ == 0; }
  friend bool operator==(PickleValue, PickleValue) = default;

 private:
  static constexpr unsigned kTagBits = 3;
  std::uint64_t bits_;  // not set by its declaration, so that blocks of values cost nothing
};

class PickleDocument {
 public:
  PickleValue root() const { return root_; }

  bool is_dict(PickleValue value) const;
  bool is_list(PickleValue value) const;  // or a tuple
  // The items of a list or tuple; empty for any other value.
  std::span<const PickleValue> items(PickleValue value) const;
  // The number of members of a dictionary, and the key and value of one; a key that was set twice
  // is there twice.
  std::size_t size(PickleValue dict) const;
  PickleValue key(PickleValue dict, std::size_t i) const;
  PickleValue value(PickleValue dict, std::size_t i) const;
  // The value of a key; None if it is not there or if this is no dictionary.
  PickleValue member(PickleValue dict, std::string_view name) const;
  PickleValue member(PickleValue dict, PickleValue name) const;

  std::optional<std::string_view> text(PickleValue value) const;
  std::optional<std::int64_t> integer(PickleValue value) const;
  std::optional<std::uint64_t> address(PickleValue value) const;  // 0 to 2^64 - 1
  std::optional<double> number(PickleValue value) const;          // an integer, too
  std::optional<bool> flag(PickleValue value) const;
  // The value of a text, for member(); a value that no key equals if the text is nowhere.
  PickleValue find_text(std::string_view name) const;
  // What the value is, for messages: "a number", "a dictionary".
  std::string_view kind(PickleValue value) const;

  std::size_t objects() const { return objects_; }  // an object's index() is below it
  std::uint64_t trailing_bytes() const { return trailing_bytes_; }  // after the end of the pickle

 private:
  friend class PickleReader;

  // A dictionary that was made at once has its keys in a shape that many share, and holds its
  // values alone; any other one holds keys and values in turn.
  enum class Kind : std::uint8_t { list, tuple, dict, shaped };
  struct Object {
    PickleValue* values;
    std::uint32_t size;  // values
    std::uint32_t room;  // values that fit there; of a shaped one its shape
    Kind kind;
    std::uint8_t depth;  // levels inside it, as far as they were there when it was filled
  };
  // Objects and values stand in blocks, because a vector that grows touches twice the memory.
  static constexpr std::size_t kBlockBits = 12;
  static constexpr std::size_t kBlock = std::size_t{1} << kBlockBits;
  Object& at(std::size_t index) const {
    return object_blocks_[index >> kBlockBits][index & (kBlock - 1)];
  }
  const Object* object(PickleValue value) const {
    return value.tag() == PickleValue::Tag::object ? &at(value.index()) : nullptr;
  }

  StringTable texts_;
  std::vector<std::unique_ptr<PickleValue[]>> value_blocks_;
  std::vector<std::unique_ptr<Object[]>> object_blocks_;
  std::size_t objects_ = 0;
  std::vector<std::vector<PickleValue>> shapes_;
  std::vector<std::uint64_t> addresses_;  // integers that do not fit into a value
  std::vector<double> numbers_;
  PickleValue root_{};
  std::uint64_t trailing_bytes_ = 0;
};

// Reads the source to its end. Throws Error with the byte at which the pickle is refused: what is
// cut, an opcode or global outside of the subset, and what is deeper or larger than any real file.
// `name` is for messages.
// Takes memory for at most 64 MiB and four times the bytes that were read; what one buffer of the
// file makes, at most 16 MiB of it, is counted at its end.
PickleDocument read_pickle(ByteSource& source, const std::string& name);

// True for the first bytes of a pickle of protocol 2 or above.
bool is_pickle(std::string_view head);

}  // namespace traceloom
