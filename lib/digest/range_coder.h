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
#pragma once

#include "digest/bytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace traceloom::digest {

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

}  // namespace traceloom::digest
