// MetadataNames: gathers what metadata events say of the tracks and processes of a file: names,
// labels, places in the order of rows, and what a merge has noted of its rows.
//
//   chunk.names.add(event);                          // in parallel, for each chunk
//   chunk.names.give_to(survey, track_ids);          // in file order: the last one stands
#pragma once

#include "base/string_table.h"
#include "event/event.h"
#include "json/json_document.h"
#include "merge/facts/file_survey.h"

#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

class MetadataNames {
 public:
  // Ignores metadata of other kinds.
  void add(const Event& event);
  // `tracks` are the track_key()s of the survey's tracks; other tracks have no row and are skipped.
  void give_to(FileSurvey& survey, const StringTable& tracks) const;

 private:
  struct Fact {
    std::string pid;
    std::string tid;
    std::string key;    // "thread_name", ...
    std::string value;  // decoded
  };
  struct RowFact {
    std::string pid;
    std::string tid;
    RowSource source;
  };
  void add_fact(const Event& event, std::string_view key, std::string value);
  void add_source_indexes(const Event& event, std::string_view key, JsonValue args);
  void add_row_source(const Event& event, JsonValue args);

  std::vector<Fact> facts_;
  std::vector<RowFact> rows_;
};

}  // namespace traceloom
