#include "output/file_list.h"

namespace traceloom {

void write_file(JsonWriter& json, const FileFacts& file) {
  json.begin_object();
  json.key("path");
  json.value(file.path);
  json.key("rank");
  json.value(file.rank);
  json.key("ranks");
  json.begin_array();
  for (const std::int64_t rank : file.ranks) json.value(rank);
  json.end_array();
  json.key("events");
  json.value(file.events);
  json.key("text_bytes");
  json.value(file.text_bytes);
  json.key("error");
  if (file.error.empty())
    json.null();
  else
    json.value(file.error);
  json.end_object();
}

}  // namespace traceloom
