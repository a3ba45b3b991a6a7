// FilterFiles: a few files to be merged, for tests of filters.
//
//   FilterFiles files({{"a.json", TraceText().x("a", 1, 5).x("b", 9, 1).array()}});
//   files.options.filter.min_duration_ns = 2000;
//   CHECK(files.kept() == Texts{"X a"});
#pragma once

#include "support/merge_texts.h"

#include <string>
#include <vector>

namespace traceloom {

struct Merged {
  MergeSummary summary;
  std::string text;
};

class FilterFiles {
 public:
  explicit FilterFiles(const NamedTexts& files)
      : options(merge_options(folder_, files, "out.json")) {}

  Merged merge() const {
    Merged merged;
    merged.summary = merge_traces(options);
    merged.text = read_file(options.output);
    return merged;
  }
  // Returns "phase name" of the events that are kept, without metadata.
  std::vector<std::string> kept() const {
    std::vector<std::string> events;
    for (const oracle::Json& event : events_of(merge().text))
      if (text_of(event, "ph") != "M")
        events.push_back(text_of(event, "ph") + " " + text_of(event, "name"));
    return events;
  }

 private:
  TemporaryFolder folder_;

 public:
  MergeOptions options;
};

}  // namespace traceloom
