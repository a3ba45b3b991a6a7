// Details: what a piece of device work says of itself beside its time, as one text.
//
//   std::string_view grid = find_detail(run.details[span.detail], "grid");       // "[32, 1, 1]"
//
// Work of one kernel with one launch configuration has one text, so texts are few.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// Launch configuration, occupancy, bytes and bandwidth of copies, and all of a collective.
bool is_detail(std::string_view key);

// What an operator was called with: "Input Dims", "Input type", "Input Strides", "Concrete Inputs".
bool is_argument(std::string_view key);

// `value` as it is written in the file; of a list the white space is made the same.
void append_detail(std::string& text, std::string_view key, std::string_view value);

// As it is written, strings without their quotes; empty when there is none.
std::string_view find_detail(std::string_view text, std::string_view key);
std::optional<double> find_number(std::string_view text, std::string_view key);
std::optional<std::int64_t> find_integer(std::string_view text, std::string_view key);

}  // namespace traceloom
