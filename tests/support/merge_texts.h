// Merges texts as a user merges files, and reads what came out.
//
//   const std::string merged = merge_texts({{"rank0.json", text0}, {"rank1.json", text1}});
//   for (const oracle::MergedEvent& event : read_merged(merged)) ...
#pragma once

#include "merge/merger.h"
#include "oracle/exact_time.h"
#include "oracle/json_value.h"
#include "oracle/oracle.h"
#include "support/temporary_folder.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;  // file name, text

inline MergeOptions merge_options(const TemporaryFolder& folder, const NamedTexts& files,
                                  const std::string& output) {
  MergeOptions options;
  for (const auto& [name, text] : files) options.inputs.push_back({folder.write(name, text), {}});
  options.output = folder.path(output);
  options.threads = 1;
  return options;
}

inline std::string merge_texts(const NamedTexts& files, unsigned threads = 1,
                               AlignBy align_by = AlignBy::any, PidLayout pids = PidLayout::rank) {
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, files, "merge_texts output.json");
  options.threads = threads;
  options.plan.clock.align_by = align_by;
  options.plan.pids = pids;
  merge_traces(options);
  return read_file(options.output);
}

// Returns the text without the merge's report at its end, so that a merge and a merge of it are
// equal.
inline std::string without_other_data(const std::string& merged) {
  return merged.substr(0, merged.find(",\n\"otherData\": {\"traceloom\""));
}

inline std::string text_of(const oracle::Json& object, std::string_view key) {
  const oracle::Json* value = object.find(key);
  return value == nullptr ? "" : value->text;
}

inline std::int64_t ns_of(const oracle::Json& event, std::string_view key) {
  return oracle::round_to_ns(oracle::parse_microseconds(text_of(event, key)).value());
}

inline std::vector<oracle::Json> events_of(const std::string& merged) {
  return oracle::parse_json(merged).find("traceEvents")->items;
}

// "rank ts" of each event but metadata, on the output's own clock, in the order of the output.
inline std::vector<std::string> starts_in(const std::string& merged) {
  std::vector<std::string> found;
  for (const oracle::Json& event : events_of(merged))
    if (text_of(event, "ph") != "M")
      found.push_back(text_of(event, "pid") + " " + text_of(event, "ts"));
  return found;
}

inline std::string base_of(const std::string& merged) {
  return text_of(oracle::parse_json(merged), "baseTimeNanoseconds");
}

// Returns the rank in the name of each process, by pid.
inline std::map<std::string, std::int64_t> ranks_of_pids(const oracle::Json& document) {
  std::map<std::string, std::int64_t> ranks;
  for (const oracle::Json& event : document.find("traceEvents")->items)
    if (text_of(event, "name") == "global_rank" && text_of(event, "ph") == "M")
      ranks[text_of(event, "pid")] = std::stoll(text_of(*event.find("args"), "value"));
  return ranks;
}

// Returns the events of a merged trace, sorted, with times on the common clock, but without
// metadata and the events that the merge added.
inline std::vector<oracle::MergedEvent> read_merged(const std::string& merged) {
  const oracle::Json document = oracle::parse_json(merged);
  const std::int64_t base_ns = std::stoll(text_of(document, "baseTimeNanoseconds"));
  const std::map<std::string, std::int64_t> ranks = ranks_of_pids(document);
  std::vector<oracle::MergedEvent> events;
  for (const oracle::Json& event : document.find("traceEvents")->items) {
    const std::string ph = text_of(event, "ph");
    if (ph.empty()) throw std::runtime_error("no phase: " + canonical_text(event));
    const char phase = ph.front();
    if (phase == 'M' || event.find("added") != nullptr) continue;
    const oracle::Json* args = event.find("args");
    events.push_back({ranks.at(text_of(event, "pid")), ns_of(event, "ts") + base_ns, phase,
                      text_of(event, "name"), text_of(event, "cat"),
                      phase == 'X' ? ns_of(event, "dur") : 0,
                      args == nullptr ? "" : canonical_text(*args)});
  }
  std::sort(events.begin(), events.end());
  return events;
}

// Removes the suffix that distinguishes counters with one name in several processes of a rank.
inline std::vector<oracle::MergedEvent> without_counter_suffixes(
    std::vector<oracle::MergedEvent> events) {
  for (oracle::MergedEvent& event : events)
    if (event.phase == 'C') event.name = event.name.substr(0, event.name.find(" ["));
  std::sort(events.begin(), events.end());
  return events;
}

}  // namespace traceloom
