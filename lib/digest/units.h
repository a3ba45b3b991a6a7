// Units: finds the unit that the numbers of a key are multiples of.
//
//   Units units;
//   units.find("dur", 0.044615418625302466);   // nullopt, until 24 numbers have been seen
//   units.find("dur", 0.046153881336519790);   // {.unit = 0.0015384627, .count = 30, .ulps = 0}
//
// A clock counts, and a program writes counts times a period, as a double with 16 digits: all of
// them but the count are those of the period. Rounding moves some doubles by a few ulps (units in
// the last place), and differences by more.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom::digest {

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

}  // namespace traceloom::digest
