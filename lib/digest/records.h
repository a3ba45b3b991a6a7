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
#pragma once

#include "digest/decimal.h"
#include "digest/units.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom::digest {

// The marks. A text that holds such a byte itself has it as a value.
inline constexpr char kTextMark = '\1';
inline constexpr char kNumberMark = '\2';
inline constexpr char kTickMark = '\3';  // a number that is best kept as a tick (decimal.h)
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
