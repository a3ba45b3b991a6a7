// write_list: writes a range as a member of an object, whose value is an array.
//
//   json.begin_object();
//   write_list(json, "ranks", std::vector{0, 1});
//   json.end_object();                             // {"ranks":[0,1]}
#pragma once

#include "output/json_writer.h"

#include <string_view>

namespace traceloom {

// Elements are of any type that JsonWriter::value() takes. An empty range gives an empty array.
template <typename List>
void write_list(JsonWriter& json, std::string_view key, const List& list) {
  json.key(key);
  json.begin_array();
  for (const auto& element : list) json.value(element);
  json.end_array();
}

}  // namespace traceloom
