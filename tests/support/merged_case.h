// One small merge and what came of it: events as they are written, problems as they are counted.
//
//   const MergedCase merged({{"rank0.json", R"([{"ph":"X",...}])"}});
//   CHECK(merged.events() == Texts{...});
//   CHECK(merged.problems() == Texts{"bad_timestamp 1 at 27"});
#pragma once

#include "base/problems.h"
#include "support/merge_texts.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace traceloom {

using Texts = std::vector<std::string>;

class MergedCase {
 public:
  explicit MergedCase(const NamedTexts& files, const PlanOptions& plan = {},
                      bool keep_going = false) {
    const TemporaryFolder folder;
    MergeOptions options = merge_options(folder, files, "merged_case output.json");
    options.plan = plan;
    options.keep_going = keep_going;
    summary_ = merge_traces(options);
    text_ = read_file(options.output);
  }
  // A list of events of rank 0 alone.
  explicit MergedCase(const std::string& text) : MergedCase(NamedTexts{{"rank0.json", text}}) {}

  const std::string& text() const { return text_; }
  const MergeSummary& summary() const { return summary_; }
  oracle::Json document() const { return oracle::parse_json(text_); }
  // A top-level value, canonical; empty when there is none.
  std::string value(std::string_view key) const {
    const oracle::Json whole = document();
    const oracle::Json* const found = whole.find(key);
    return found == nullptr ? "" : canonical_text(*found);
  }
  // otherData.ranks, canonical.
  std::string rank_values() const {
    return canonical_text(*document().find("otherData")->find("ranks"));
  }
  // The lines without the merge's own additions and without white space that JSON does not need.
  Texts events() const { return lines(false); }
  Texts metadata() const { return lines(true); }
  Texts problems(std::size_t file = 0) const {
    Texts found;
    const ProblemCounts& counts = summary_.files.at(file).problems;
    for (const Problem kind : counts.kinds())
      found.push_back(fmt::format("{} {} at {}", describe(kind).name, counts.count(kind),
                                  counts.first_offset(kind)));
    return found;
  }

 private:
  Texts lines(bool metadata) const {
    Texts found;
    std::size_t at = text_.find("\"traceEvents\": [");
    while ((at = text_.find('\n', at)) != std::string::npos) {
      ++at;
      std::string line = text_.substr(at, text_.find('\n', at) - at);
      if (line.starts_with(']')) break;
      if (line.ends_with(',')) line.pop_back();
      if (line.find("__metadata") != std::string::npos) continue;
      if ((text_of(oracle::parse_json(line), "ph") == "M") == metadata) found.push_back(line);
    }
    return found;
  }

  MergeSummary summary_;
  std::string text_;
};

}  // namespace traceloom
