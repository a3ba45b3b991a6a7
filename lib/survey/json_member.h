// Single values out of small pieces of JSON: the args of a metadata event, a top-level object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// The value of `key` in a JSON object, as it is written; empty when there is none or the object is
// no JSON.
std::string json_member(std::string_view object, std::string_view key);

// All members of a JSON object in their order: key (decoded) and value as it is written. Empty when
// the object is no JSON.
std::vector<std::pair<std::string, std::string>> json_members(std::string_view object);

// Makes what simdjson makes at its first use and destroys when the process exits. Functions that
// are registered for the exit behind this may use all of the above, and threads until they have
// run.
void load_json_parser();

// A whole number, also in quotes or written as 7.0.
std::optional<std::int64_t> json_integer(std::string_view json_value);

}  // namespace traceloom
