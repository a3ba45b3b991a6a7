// An event as the text that many events share, and the values that are its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace traceloom::digest {

// Decimal: a number as JSON writes it, as a whole number and a count of decimal places.
//
//   parse_decimal("-12.50");          // {-1250, 2}
//   append_decimal({-1250, 2}, text);  // appends "-12.50"

inline constexpr unsigned kMostPlaces = 18;

struct Decimal {
  std::int64_t digits = 0;
  unsigned places = 0;
};

// Python's time.time() counts 2^-22 s today, and a difference of two of them in microseconds is
// written with up to 17 digits: 24228847.50366211 is tick 101623152.
std::optional<std::int64_t> parse_tick(std::string_view text);
void append_tick(std::int64_t tick, std::string& text);

// The double in a number of 15 digits and more, most of them after the point, which is what
// programs print of one that was multiplied. Returns nullopt unless append_double() writes exactly
// `text`.
std::optional<double> parse_double(std::string_view text);
void append_double(double number, std::string& text);

inline constexpr std::array<std::uint64_t, kMostPlaces + 1> kPowersOfTen = [] {
  std::array<std::uint64_t, kMostPlaces + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  return powers;
}();

// Returns nullopt unless append_decimal() writes exactly `text`: for more than 18 digits, an
// exponent, leading zeros, "-0" and whatever else is no such number.
std::optional<Decimal> parse_decimal(std::string_view text);

// Appends the number. At most kMostPlaces places.
void append_decimal(const Decimal& decimal, std::string& text);

// Units: finds the unit that the numbers of a key are multiples of.
//
//   Units units;
//   units.find("dur", 0.044615418625302466);   // nullopt, until 24 numbers have been seen
//   units.find("dur", 0.046153881336519790);   // {.unit = 0.0015384627, .count = 30, .ulps = 0}
//
// A clock counts, and a program writes counts times a period, as a double with 16 digits: all of
// them but the count are those of the period. Rounding moves some doubles by a few ulps (units in
// the last place), and differences by more.

inline constexpr int kMostUlps = 7;

struct Multiple {
  double unit = 0;
  std::int64_t count = 0;
  int ulps = 0;  // from -kMostUlps to kMostUlps
};

// Returns the double that many ulps from count x unit. Any values are allowed.
double number_of(const Multiple& multiple);
// Returns nullopt if the number is too far from all multiples.
std::optional<Multiple> multiple_of(double number, double unit);
// Returns a unit of which all numbers are multiples, or nullopt.
std::optional<double> common_unit(std::vector<double> numbers);

class Units {
 public:
  // Returns the number as a multiple of the unit of its key. Learns from numbers that are none.
  std::optional<Multiple> find(std::string_view key, double number);

 private:
  struct State {
    double unit = 0;  // 0: there is none yet
    unsigned trials = 0;
    std::vector<double> others;  // numbers that are no multiples
  };
  std::map<std::string, State, std::less<>> states_;
};

// Form: the form of a record (records.h), cut at its marks.
//
//   Form form("{\"ts\": \2}", 7, keys);
//   form.columns[0].key;   // the key "ts" of this kind of event

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

// read_record: an event as the text that many events share, and the values that are its own.
//
//   Record record;
//   std::string_view rest = text;
//   while (!rest.empty()) use(read_record(rest, record));
//
// A record is the text up to the end of the next object that stands in a list: an event with the
// comma and the white space before it. In an event that has a list of objects, each of them ends a
// record. The `form` of a record is its text in which each value is replaced by one mark; the
// values are those texts, in order. Strings and lists without objects are values; so are numbers.
// Keys stay in the form, and the values of "ph" and "cat", since events that differ in them are of
// different kinds.
//
// It understands as much of JSON as it needs for small digests, and no text is wrong: whatever it
// takes for what, the form with its values is the text.

// The marks. A text that holds such a byte itself has it as a value.
inline constexpr char kTextMark = '\1';
inline constexpr char kNumberMark = '\2';
inline constexpr char kTickMark = '\3';  // a number that is best kept as a tick (records.h)
inline constexpr char kListMark = '\4';  // a list of whole numbers
inline constexpr std::size_t kMostListed = std::size_t{32} << 10;
// A multiple of a unit (units.h), which follows as kUnitBytes hexadecimal digits.
inline constexpr char kMultipleMark = '\5';
inline constexpr std::size_t kUnitBytes = 16;

inline bool is_mark(char c) {
  return c >= kTextMark && c <= kMultipleMark;
}

struct Record {
  std::string form;
  std::vector<std::string_view> texts;
  std::vector<Decimal> numbers;  // a tick and a count of units are numbers without places
  std::vector<int> ulps;         // of the multiples
  std::vector<std::vector<std::int64_t>> lists;

  Units units = {};  // those of the records so far

  std::size_t values() const { return texts.size() + numbers.size() + lists.size(); }
};

// Removes the record at the front of `text`, which is not empty, and puts its parts in `record`.
void read_record(std::string_view& text, Record& record);

// Returns where a piece of a longer text is best cut: between two objects, if it has such a place.
std::size_t end_of_records(std::string_view piece);

}  // namespace traceloom::digest
