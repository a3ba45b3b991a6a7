// Form: the form of a record (records.h), cut at its marks.
//
//   Form form("{\"ts\": \2}", 7, keys);
//   form.columns[0].key;   // the key "ts" of this kind of event
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace traceloom::digest {

// The memory of one key: its last number, and the unit in which its numbers are counted.
struct KeyState {
  unsigned places = 0;  // the most decimal places so far: numbers are counted in units of the last
  std::int64_t last = 0;
};

// Numbers the keys, which are known by their names and by the kinds of events ("ph", "cat") in
// which they stand.
class Keys {
 public:
  std::uint32_t find(std::uint64_t hash);
  KeyState& operator[](std::uint32_t key) { return states_[key]; }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::vector<KeyState> states_;
};

inline constexpr unsigned kBases = 8;

// One mark of a form: the values at this place of all records of the form.
struct Column {
  char mark = 0;
  double unit = 0;           // of multiples
  std::string_view literal;  // the text of the form before the mark
  std::uint32_t number = 0;  // the same in both directions, and of no other column
  std::uint32_t key = 0;     // in Keys: shared by columns of other forms
  std::uint32_t name = 0;    // in Keys: shared by columns of the same key in all kinds of events
  std::int64_t last = 0;
  std::int64_t last_step = 0;
  std::int64_t last_gap = 0;  // to the number before it in the same record
  std::uint32_t last_text = 0;
  std::array<std::uint32_t, kBases> costs = {};  // of each base, lately
  std::uint32_t trials = 0;                      // numbers that went by a base
  bool has_track = true;     // the number before it in the record may be one of a track
  std::uint8_t repeats = 8;  // 0: its values do not come again
};

struct Form {
  // `text` must stay valid. Columns are numbered from `first_column` on.
  Form(std::string_view text, std::uint32_t first_column, Keys& keys);

  std::vector<Column> columns;
  std::string_view end;  // the text after the last mark
};

}  // namespace traceloom::digest
