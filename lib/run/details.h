// Details: the facts that the args of device work give besides its time, as one text.
//
//   std::string_view grid = find_detail(run.details[span.detail], "grid");       // "[32, 1, 1]"
//
// All work of one kernel with one launch configuration has the same text, so there are few texts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// True for the keys of launch configuration, occupancy, bytes and bandwidth of copies, and of
// collectives.
bool is_detail(std::string_view key);

// True for the keys by which Ascend describes a collective: the type and number of its elements.
bool is_transfer_detail(std::string_view key);

// True for the arguments of an operator: "Input Dims", "Input type", "Input Strides", "Concrete
// Inputs".
bool is_argument(std::string_view key);

// The key of the shapes of an operator's arguments.
inline constexpr std::string_view kShapes = "Input Dims";

// Appends `value` as it is written in the file, but lists with uniform white space.
void append_detail(std::string& text, std::string_view key, std::string_view value);

// Returns the value as it is written, strings without their quotes; empty if there is none.
std::string_view find_detail(std::string_view text, std::string_view key);
std::optional<double> find_number(std::string_view text, std::string_view key);
std::optional<std::int64_t> find_integer(std::string_view text, std::string_view key);

// The same facts of one text, which is split only once. It is for those who ask for many of them:
// the 13 questions about one collective took 22 % of `bottleneck` when each searched the text.
// Values are views into the text.
//
//   const Details details(run.details[span.detail]);
//   std::string_view dtype = details.find("dtype");
class Details {
 public:
  explicit Details(std::string_view text);

  std::string_view find(std::string_view key) const;
  std::optional<std::int64_t> find_integer(std::string_view key) const;

 private:
  struct Entry {
    std::string_view key;
    std::string_view value;
  };
  // The array has room for all keys that is_detail() knows. Further ones stay in rest_, which
  // find() searches.
  std::array<Entry, 24> entries_;
  std::size_t size_ = 0;
  std::string_view rest_;
};

}  // namespace traceloom
