// write_files, write_file_problems: write the inputs of a report as JSON objects, in the same form
// for all reports.
//
//   write_files(json, run.files);
//   write_file_problems(json, run.files);
#pragma once

#include "base/file_facts.h"
#include "output/json_writer.h"
#include "output/problem_list.h"

#include <vector>

namespace traceloom {

// Writes {"path", "rank", "ranks", "events", "text_bytes", "error"}, with null for missing values.
void write_file(JsonWriter& json, const FileFacts& file);

// Writes the key "files" and an array of these objects. `File` is a FileFacts.
template <typename File>
void write_files(JsonWriter& json, const std::vector<File>& files) {
  json.key("files");
  json.begin_array();
  for (const File& file : files) write_file(json, file);
  json.end_array();
}

// Writes the key "problems" and an array of the problems of all files.
template <typename File>
void write_file_problems(JsonWriter& json, const std::vector<File>& files) {
  json.key("problems");
  json.begin_array();
  for (const File& file : files) write_problems(json, file.path, file.problems);
  json.end_array();
}

}  // namespace traceloom
