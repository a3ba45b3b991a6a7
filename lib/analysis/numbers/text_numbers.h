// TextNumbers: numbers the parts of texts that a run has numbered as a whole, so that rows that
// look equal to people become one.
//
//   TextNumbers names = label_names(run.labels);     // labels of two categories may have one name
//   names[span.label]                                // equal where the names are
//   names.text(number)
#pragma once

#include "base/string_table.h"
#include "run/event_columns.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace traceloom {

class TextNumbers {
 public:
  // Adds the part of the run's next number.
  void add(std::string_view part) { numbers_.push_back(parts_.intern(part)); }

  // `number` is the run's; returns kNothing if it has no part, and for kNoDetail.
  std::int64_t operator[](std::uint32_t number) const {
    if (number >= numbers_.size() || parts_[numbers_[number]].empty()) return kNothing;
    return numbers_[number];
  }
  // Returns an empty text for kNothing, and for a number without a part.
  std::string_view text(std::int64_t part) const {
    return part < 0 || part >= static_cast<std::int64_t>(parts_.size())
               ? std::string_view{}
               : parts_[static_cast<std::uint32_t>(part)];
  }
  static constexpr std::int64_t kNothing = -1;

 private:
  StringTable parts_;
  std::vector<std::uint32_t> numbers_;
};

// Numbers the names of labels.
TextNumbers label_names(const Labels& labels);

// Numbers the lines "key\tvalue\n" of details whose key is one of `keys`; see run/details.h.
TextNumbers detail_parts(const StringTable& details, const std::vector<std::string_view>& keys);

// Numbers the shapes of arguments; with `all` also types, strides and values.
TextNumbers argument_parts(const StringTable& details, bool all);

}  // namespace traceloom
