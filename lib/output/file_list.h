// The inputs of a report as JSON objects: one form in all reports.
//
//   write_files(json, run.files);
//   write_file_problems(json, run.files);
#pragma once

#include "base/file_facts.h"
#include "output/json_writer.h"
#include "output/problem_list.h"

#include <vector>

namespace traceloom {

// {"path", "rank", "ranks", "events", "text_bytes", "error"}, with null for what there is not.
void write_file(JsonWriter& json, const FileFacts& file);

// The key "files" and an array of these. `File` is a FileFacts.
template <typename File>
void write_files(JsonWriter& json, const std::vector<File>& files) {
  json.key("files");
  json.begin_array();
  for (const File& file : files) write_file(json, file);
  json.end_array();
}

// The key "problems" and an array of those of all files.
template <typename File>
void write_file_problems(JsonWriter& json, const std::vector<File>& files) {
  json.key("problems");
  json.begin_array();
  for (const File& file : files) write_problems(json, file.path, file.problems);
  json.end_array();
}

}  // namespace traceloom
