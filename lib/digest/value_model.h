// Codes the values of a block in few bits, by what was foreseen of them.
#pragma once

#include "base/arithmetic.h"
#include "digest/frames.h"
#include "digest/records.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom::digest {

// RangeEncoder, RangeDecoder: bits, each of which costs the less the more likely it was.
//
//   RangeEncoder out;
//   Likelihood is_known;
//   out.code(true, is_known);
//   out.code_plain(5, 3);
//   std::string bytes = out.finish();
//
//   RangeDecoder in(bytes);
//   in.code(false, is_known);   // true: the decoder returns what the encoder was given
//
// Both have the same functions, so a model is written once, as a template, and reads and writes the
// same bits in the same order. What a decoder is given is ignored. After the end of its bytes it
// reads zeros.

// A Likelihood learns how often a bit is 1: fast from the first bits, then slower.
class Likelihood {
 public:
  // In units of 2^-16; never 0 or 1.
  std::uint32_t of_one() const { return one_; }

  void learn(bool bit) {
    const std::int32_t goal = bit ? kMost : kLeast;
    const auto step = static_cast<std::int32_t>(kShares[seen_]);
    one_ = static_cast<std::uint16_t>(one_ + (((goal - one_) * step) >> 16));
    if (seen_ + 1U < kShares.size()) ++seen_;
  }

 private:
  static constexpr std::int32_t kMost = 65535 - 24;
  static constexpr std::int32_t kLeast = 24;
  // The share of the way to the goal: about 1 / (bits seen + 1.6), in units of 2^-16.
  static constexpr std::array<std::uint16_t, 24> kShares{
      29000, 22000, 17000, 13500, 11400, 9800, 8600, 7600, 6800, 6200, 5650, 5200,
      4800,  4480,  4200,  3950,  3730,  3530, 3350, 3190, 3040, 2800, 2500, 2200};

  std::uint16_t one_ = 32768;
  std::uint8_t seen_ = 0;
};

class RangeEncoder {
 public:
  bool code(bool bit, Likelihood& likelihood) {
    const std::uint32_t middle = split(low_, high_, likelihood.of_one());
    (bit ? high_ : low_) = bit ? middle : middle + 1;
    likelihood.learn(bit);
    while (((low_ ^ high_) >> 24) == 0) {
      coded_.push_back(static_cast<char>(high_ >> 24));
      low_ <<= 8;
      high_ = high_ << 8 | 0xff;
    }
    return bit;
  }

  // Writes the lowest `count` (0 to 56) bits of a number as they are.
  std::uint64_t code_plain(std::uint64_t bits, unsigned count) {
    held_ |= (bits & ((std::uint64_t{1} << count) - 1)) << held_count_;
    held_count_ += count;
    for (; held_count_ >= 8; held_count_ -= 8, held_ >>= 8)
      plain_.push_back(static_cast<char>(held_));
    return bits;
  }

  std::string finish() {
    for (int i = 0; i < 4; ++i, low_ <<= 8) coded_.push_back(static_cast<char>(low_ >> 24));
    if (held_count_ > 0) plain_.push_back(static_cast<char>(held_));
    std::string bytes;
    put_text(bytes, coded_);
    return bytes += plain_;
  }

  static std::uint32_t split(std::uint32_t low, std::uint32_t high, std::uint32_t one) {
    return low + static_cast<std::uint32_t>((std::uint64_t{high - low} * one) >> 16);
  }

 private:
  std::uint32_t low_ = 0;
  std::uint32_t high_ = 0xffffffff;
  std::string coded_;
  std::uint64_t held_ = 0;
  unsigned held_count_ = 0;
  std::string plain_;
};

class RangeDecoder {
 public:
  explicit RangeDecoder(std::string_view bytes) {
    ByteReader reader(bytes);
    coded_ = reader.text();
    plain_ = reader.rest();
    for (int i = 0; i < 4; ++i) value_ = value_ << 8 | next(coded_);
  }

  bool code(bool /*ignored*/, Likelihood& likelihood) {
    const std::uint32_t middle = RangeEncoder::split(low_, high_, likelihood.of_one());
    const bool bit = value_ <= middle;
    (bit ? high_ : low_) = bit ? middle : middle + 1;
    likelihood.learn(bit);
    while (((low_ ^ high_) >> 24) == 0) {
      low_ <<= 8;
      high_ = high_ << 8 | 0xff;
      value_ = value_ << 8 | next(coded_);
    }
    return bit;
  }

  std::uint64_t code_plain(std::uint64_t /*ignored*/, unsigned count) {
    for (; held_count_ < count; held_count_ += 8)
      held_ |= std::uint64_t{next(plain_)} << held_count_;
    const std::uint64_t bits = held_ & ((std::uint64_t{1} << count) - 1);
    held_ >>= count;
    held_count_ -= count;
    return bits;
  }

 private:
  static std::uint8_t next(std::string_view& bytes) {
    if (bytes.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    return byte;
  }

  std::uint32_t low_ = 0;
  std::uint32_t high_ = 0xffffffff;
  std::uint32_t value_ = 0;
  std::string_view coded_;
  std::uint64_t held_ = 0;
  unsigned held_count_ = 0;
  std::string_view plain_;
};

// ValueModel: codes the values of a block, so that one costs the less the better it was foreseen.
//
//   RangeEncoder coder;
//   ValueModel<RangeEncoder> model(coder, keys);
//   model.form(3, 7);              // the record has form 3 of 7 known ones
//   model.text(column, 12, 90);    // and text 12 of 90 in this column
//   model.number(column, {1250, 2});
//
// With a RangeDecoder, the same calls in the same order return these values.

// Says what followed some values last time, and how often that came true.
struct Guess {
  std::int64_t value = 0;
  std::uint32_t tag = 0;    // of the values that it follows
  std::uint32_t trust = 0;  // 0: it never came true

  void learn(std::int64_t seen) {
    if (value == seen) {
      trust = std::min(trust + 1, 15U);
    } else {
      trust /= 4;
      if (trust == 0) value = seen;
    }
  }
};

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t product = (a ^ b * 0x9e3779b97f4a7c15U) * 0xd6e8feb86659fd93U;
  return product ^ product >> 32;
}

// `Coder` is a RangeEncoder or a RangeDecoder (value_model.h): the functions take the value, which
// a decoder ignores, and return it. All sums wrap around, so no value is undefined.
template <typename Coder>
class ValueModel {
 public:
  ValueModel(Coder& coder, Keys& keys)
      : coder_(coder), keys_(keys), likelihoods_(kLikelihoods), guesses_(kGuesses) {}

  // Codes the number of the form of the next record; `known` is the number of forms so far, and the
  // number of a new one.
  std::uint32_t form(std::uint32_t value, std::uint32_t known) {
    const std::uint64_t place = 1;
    const std::array contexts{mixed(mixed(mixed(place, form_), before_form_), third_form_),
                              mixed(mixed(place, form_), before_form_), mixed(place, form_)};
    value = static_cast<std::uint32_t>(listed(value, known, contexts, 0));
    third_form_ = before_form_;
    before_form_ = form_;
    form_ = value;
    // The first text of a record is foreseen by those of the records before it.
    text_before_ = first_text_before_;
    first_text_before_ = text_ = first_text_;
    is_first_text_ = true;
    number_ = 0;
    return value;
  }

  // Codes the number of the text in a column; `known` is as above.
  std::uint32_t text(Column& column, std::uint32_t value, std::uint32_t known) {
    const std::uint64_t one = mixed(column.number + 2, text_);
    const std::uint64_t two = mixed(one, text_before_);
    const std::array contexts{mixed(two, column.last_text + 1), two, one};
    value = static_cast<std::uint32_t>(listed(value, known, contexts, column.key + 1));
    column.last_text = value;
    text_before_ = text_;
    text_ = value;
    if (is_first_text_) first_text_ = value;
    is_first_text_ = false;
    return value;
  }

  Decimal number(Column& column, const Decimal& decimal);

  // Codes how far the number before is from a multiple of its unit.
  int ulps(const Column& column, int value) {
    const std::uint64_t far = tree(static_cast<std::uint64_t>(std::int64_t{value} + kMostUlps), 4,
                                   mixed(column.name + 1, 53));
    return static_cast<int>(far) - kMostUlps;
  }

  // Codes the count and the numbers of a list. A decoder gives an empty list; it returns one for
  // more than `most` numbers.
  std::vector<std::int64_t> list(Column& column, const std::vector<std::int64_t>& given,
                                 std::size_t most);

 private:
  static constexpr std::size_t kLikelihoods = std::size_t{1} << 16;
  static constexpr std::size_t kGuesses = std::size_t{1} << 16;

  bool bit(bool value, std::uint64_t context) {
    return coder_.code(value, likelihoods_[(context ^ context >> 29) % kLikelihoods]);
  }

  Guess& guess_of(std::uint64_t context) {
    Guess& guess = guesses_[context % kGuesses];
    const auto tag = static_cast<std::uint32_t>(context >> 40) + 1;
    if (guess.tag != tag) guess = {.value = -1, .tag = tag};
    return guess;
  }

  // Codes the lowest `count` bits of a number, the highest first, each by those before it.
  std::uint64_t tree(std::uint64_t value, unsigned count, std::uint64_t context) {
    const std::uint64_t place = context ^ context >> 29;
    std::uint64_t seen = 1;
    for (unsigned i = count; i-- > 0;) {
      Likelihood& likelihood = likelihoods_[(place + seen) % kLikelihoods];
      seen = seen << 1 | std::uint64_t{coder_.code((value >> i & 1) != 0, likelihood)};
    }
    return seen ^ std::uint64_t{1} << count;
  }

  // Returns true if one of the guesses is right; `value` is then that one.
  template <std::size_t n>
  bool guessed(std::int64_t& value, const std::array<Guess*, n>& guesses, std::uint64_t key) {
    std::int64_t refused = -1;
    bool has_refused = false;
    std::uint64_t context = mixed(key, 7);
    for (std::size_t i = 0; i < n; ++i) {
      const Guess& guess = *guesses[i];
      if (guess.trust == 0 || (has_refused && guess.value == refused)) continue;
      context = mixed(context, 16 * i + guess.trust + 1);
      if (bit(value == guess.value, context)) {
        value = guess.value;
        return true;
      }
      refused = guess.value;
      has_refused = true;
    }
    return false;
  }

  std::int64_t listed(std::int64_t value, std::uint32_t known,
                      const std::array<std::uint64_t, 3>& contexts, std::uint64_t key) {
    const std::array guesses{&guess_of(contexts[0]), &guess_of(contexts[1]),
                             &guess_of(contexts[2])};
    if (!guessed(value, guesses, key)) {
      const bool is_new = bit(value == known, mixed(key, 11));
      const auto width = static_cast<unsigned>(std::bit_width(known));
      value = is_new ? known
                     : static_cast<std::int64_t>(tree(static_cast<std::uint64_t>(value), width,
                                                      mixed(mixed(key, 13), width)));
    }
    for (Guess* const guess : guesses) guess->learn(value);
    return value;
  }

  std::int64_t difference(std::int64_t value, std::uint64_t context);
  // Enlarges the unit of the key, or returns a number that does not fit the unit.
  std::optional<Decimal> odd_number(KeyState& key, const Decimal& decimal, std::uint64_t context);
  // Codes a number in units of its key, by what followed the same text or value before.
  std::int64_t foreseen(Column& column, std::int64_t value, std::uint64_t context);
  // Codes it by its difference to whichever base was nearest lately.
  std::int64_t from_base(Column& column, std::int64_t value, std::int64_t after_text,
                         std::uint64_t context);
  Decimal shortened(std::int64_t value, unsigned unit, unsigned places, std::uint64_t context);
  // Codes a number of a list by the two before it, and by the one `beside` it in the list before.
  std::int64_t listed_number(std::int64_t value, std::int64_t last, std::int64_t before_last,
                             std::int64_t beside, std::uint64_t context);

  Coder& coder_;
  Keys& keys_;
  std::vector<Likelihood> likelihoods_;
  std::vector<Guess> guesses_;
  std::uint32_t form_ = 0;
  std::uint32_t before_form_ = 0;
  std::uint32_t third_form_ = 0;
  std::uint32_t text_ = 0;
  std::uint32_t text_before_ = 0;
  std::uint32_t first_text_ = 0;
  std::uint32_t first_text_before_ = 0;
  bool is_first_text_ = true;
  std::int64_t number_ = 0;         // the last one of the record
  std::vector<std::int64_t> list_;  // the last one
};

namespace detail {

inline std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

inline std::int64_t scaled(std::int64_t value, unsigned places) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) * kPowersOfTen[places]);
}

// True if the number, in units of 10^-places, has at most 62 bits.
inline bool fits(const Decimal& decimal, unsigned places) {
  return decimal.places > places ||
         magnitude(decimal.digits) <
             (std::uint64_t{1} << 62) / kPowersOfTen[places - decimal.places];
}

// Returns how many decimal zeros, at most `most`, stand at the end of the number.
inline unsigned zeros_of(std::int64_t value, unsigned most) {
  unsigned zeros = 0;
  for (; zeros < most && value % 10 == 0; ++zeros) value /= 10;
  return zeros;
}

}  // namespace detail

template <typename Coder>
std::int64_t ValueModel<Coder>::difference(std::int64_t value, std::uint64_t context) {
  constexpr unsigned kHighBits = 3;
  constexpr unsigned kLowBits = 6;
  const std::uint64_t given = detail::magnitude(value);
  const auto width = static_cast<unsigned>(
      tree(static_cast<unsigned>(std::bit_width(given)), 7, mixed(context, 3)));
  if (width == 0) return 0;
  const bool negative = bit(value < 0, mixed(context, 5));
  const std::uint64_t inner = mixed(mixed(context, 17), width);
  unsigned left = std::min(width, 64U) - 1;
  const unsigned high = std::min(left, kHighBits);
  left -= high;
  std::uint64_t result = std::uint64_t{1} << high | tree(given >> left, high, mixed(inner, 1));
  const unsigned low = std::min(left, kLowBits);
  std::uint64_t plain = given >> low;
  for (unsigned count = left - low; count > 0;) {
    const unsigned now = std::min(count, 32U);
    count -= now;
    result = result << now | coder_.code_plain(plain >> count, now);
  }
  std::uint64_t last = 0;
  for (unsigned i = 0; i < low; ++i)
    last |= std::uint64_t{bit((given >> i & 1) != 0,
                              mixed(mixed(context, 19), 8 * i + (last == 0 ? 1 : 0)))}
            << i;
  result = result << low | last;
  return static_cast<std::int64_t>(negative ? 0 - result : result);
}

template <typename Coder>
Decimal ValueModel<Coder>::number(Column& column, const Decimal& decimal) {
  KeyState& key = keys_[column.key];
  const std::uint64_t context = mixed(column.key + 1, 23);
  const bool is_odd = decimal.places > key.places || !detail::fits(decimal, key.places);
  if (bit(is_odd, mixed(context, 1))) {
    if (const std::optional<Decimal> unfit = odd_number(key, decimal, context)) return *unfit;
  }
  const std::int64_t given =
      detail::scaled(decimal.digits, key.places - std::min(key.places, decimal.places));
  const std::int64_t value = foreseen(column, given, context);
  column.last_step = wrapped_difference(value, column.last);
  column.last_gap = wrapped_difference(value, number_);
  column.last = keys_[column.name].last = key.last = number_ = value;
  return shortened(value, key.places, decimal.places, context);
}

template <typename Coder>
std::optional<Decimal> ValueModel<Coder>::odd_number(KeyState& key, const Decimal& decimal,
                                                     std::uint64_t context) {
  const auto places = static_cast<unsigned>(
      std::min<std::uint64_t>(tree(decimal.places, 5, mixed(context, 2)), kMostPlaces));
  key.places = std::max(key.places, places);
  if (!bit(!detail::fits(decimal, key.places), mixed(context, 3))) return std::nullopt;
  return Decimal{difference(decimal.digits, mixed(context, 4)), places};
}

template <typename Coder>
std::int64_t ValueModel<Coder>::foreseen(Column& column, std::int64_t value,
                                         std::uint64_t context) {
  const std::uint64_t one = mixed(column.number + 2, text_);
  Guess& after_text = guess_of(mixed(one, 31));
  // A column whose values never come again would fill the guesses with its own.
  Guess unused{.value = -1};
  Guess& after_value = column.repeats == 0
                           ? unused
                           : guess_of(mixed(mixed(mixed(one, text_before_), 29),
                                            static_cast<std::uint64_t>(column.last)));
  const bool was_foreseen = guessed(value, std::array{&after_value, &after_text}, context);
  if (!was_foreseen) value = from_base(column, value, after_text.value, context);
  if (value == after_value.value || value == after_text.value)
    column.repeats = static_cast<std::uint8_t>(std::min(column.repeats + 2, 30));
  else if (column.repeats > 0)
    --column.repeats;
  after_value.learn(value);
  after_text.learn(value);
  return value;
}

template <typename Coder>
std::int64_t ValueModel<Coder>::from_base(Column& column, std::int64_t value,
                                          std::int64_t after_text, std::uint64_t context) {
  constexpr std::size_t kTrackBase = 5;
  constexpr std::uint32_t kTrial = 32;
  Guess unused;
  Guess& on_track =
      column.has_track
          ? guess_of(mixed(mixed(column.name, 37), static_cast<std::uint64_t>(number_)))
          : unused;
  const std::array<std::int64_t, kBases> bases{0,
                                               column.last,
                                               wrapped_sum(column.last, column.last_step),
                                               wrapped_sum(number_, column.last_gap),
                                               keys_[column.name].last,
                                               on_track.value,
                                               after_text,
                                               keys_[column.key].last};
  const auto best = std::min_element(column.costs.begin(), column.costs.end());
  const auto base = static_cast<std::size_t>(best - column.costs.begin());
  const auto expected =
      base == 0 ? static_cast<unsigned>(std::bit_width(detail::magnitude(after_text))) : 0;
  const std::uint64_t place = mixed(mixed(context, 41 + base), expected);
  value = wrapped_sum(bases[base], difference(wrapped_difference(value, bases[base]), place));
  for (std::size_t i = 0; i < kBases; ++i) {
    const auto width = static_cast<std::uint32_t>(
        std::bit_width(detail::magnitude(wrapped_difference(value, bases[i]))));
    column.costs[i] += 16 * width - column.costs[i] / 16;
  }
  on_track.trust = 0;
  on_track.value = value;
  if (++column.trials == kTrial && base != kTrackBase) column.has_track = false;
  return value;
}

// Returns the number in the decimal places that it was written with: all of the unit's, or without
// zeros at the end.
template <typename Coder>
Decimal ValueModel<Coder>::shortened(std::int64_t value, unsigned unit, unsigned places,
                                     std::uint64_t context) {
  const unsigned zeros = detail::zeros_of(value, unit);
  unsigned dropped = 0;
  while (dropped < zeros &&
         bit(places < unit - dropped, mixed(mixed(context, 43), 32 * zeros + dropped))) {
    ++dropped;
    value /= 10;
  }
  return {value, unit - dropped};
}

template <typename Coder>
std::vector<std::int64_t> ValueModel<Coder>::list(Column& column,
                                                  const std::vector<std::int64_t>& given,
                                                  std::size_t most) {
  const std::uint64_t context = mixed(column.name + 1, 59);
  const std::int64_t more = difference(
      wrapped_difference(static_cast<std::int64_t>(given.size()), column.last), mixed(context, 1));
  column.last = wrapped_sum(column.last, more);
  const auto count = static_cast<std::uint64_t>(column.last);
  std::vector<std::int64_t> result;
  if (count > most) return result;
  result.reserve(count);
  std::int64_t last = 0;
  std::int64_t before_last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t beside = i < list_.size() ? list_[i] : 0;
    const std::int64_t value =
        listed_number(i < given.size() ? given[i] : 0, last, before_last, beside, context);
    result.push_back(value);
    before_last = last;
    last = value;
  }
  list_ = result;
  return result;
}

template <typename Coder>
std::int64_t ValueModel<Coder>::listed_number(std::int64_t value, std::int64_t last,
                                              std::int64_t before_last, std::int64_t beside,
                                              std::uint64_t context) {
  const std::uint64_t after = mixed(mixed(context, 61), static_cast<std::uint64_t>(last));
  const std::array guesses{&guess_of(mixed(after, static_cast<std::uint64_t>(before_last))),
                           &guess_of(mixed(mixed(context, 67), static_cast<std::uint64_t>(beside))),
                           &guess_of(after)};
  if (!guessed(value, guesses, context)) {
    const auto width = static_cast<unsigned>(std::bit_width(detail::magnitude(last)));
    value = difference(value, mixed(mixed(context, 71), width));
  }
  for (Guess* const guess : guesses) guess->learn(value);
  return value;
}

}  // namespace traceloom::digest
