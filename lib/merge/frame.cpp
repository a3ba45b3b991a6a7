#include "merge/frame.h"

#include "base/json_check.h"
#include "base/json_string.h"
#include "merge/filter_record.h"
#include "output/json_writer.h"
#include "output/problem_list.h"
#include "survey/json_member.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace traceloom {
namespace {

// Metadata events without ts (the viewers' order of names is by ts, and there is one name only),
// with a category (catapult's streaming reader sees no event without one).
class MetadataWriter {
 public:
  MetadataWriter(std::string& text, std::int64_t rank) : text_(text), rank_(rank) {}

  void write(std::uint32_t tid, std::string_view name, std::string_view key,
             std::string_view value) {
    std::string json;
    append_json_string(json, value);
    write_json(tid, name, key, json);
  }
  void write(std::uint32_t tid, std::string_view name, std::string_view key, std::int64_t value) {
    write_json(tid, name, key, std::to_string(value));
  }

 private:
  void write_json(std::uint32_t tid, std::string_view name, std::string_view key,
                  std::string_view value) {
    if (text_.back() != '\n') text_ += ",\n";
    JsonWriter json(text_);
    json.begin_object();
    json.key("name");
    json.value(name);
    json.key("cat");
    json.value("__metadata");
    json.key("ph");
    json.value("M");
    json.key("pid");
    json.value(rank_);
    json.key("tid");
    json.value(tid);
    json.key("args");
    json.begin_object();
    json.key(key);
    json.raw(value);
    json.end_object();
    json.end_object();
  }

  std::string& text_;
  std::int64_t rank_;
};

void write_metadata(std::string& text, const OutputRank& rank) {
  MetadataWriter metadata(text, rank.rank);
  const std::uint32_t main_tid = rank.tracks.empty() ? 1 : rank.tracks.front().tid;
  metadata.write(main_tid, "process_name", "name", rank.name);
  if (!rank.labels.empty()) metadata.write(main_tid, "process_labels", "labels", rank.labels);
  metadata.write(main_tid, "process_sort_index", "sort_index", rank.rank);
  // What Composer writes; it also tells this and other mergers which rank a merged event is of.
  metadata.write(main_tid, "global_rank", "value", rank.rank);
  std::int64_t index = 0;
  for (const OutputTrack& track : rank.tracks) {
    metadata.write(track.tid, "thread_name", "name", track.name);
    metadata.write(track.tid, "thread_sort_index", "sort_index", index++);
  }
}

// Keys that the merge itself writes, or whose values it has used up.
bool is_own_key(std::string_view key) {
  static constexpr std::array<std::string_view, 5> kKeys{"traceEvents", "displayTimeUnit",
                                                         "baseTimeNanoseconds", "beginningOfTime",
                                                         "controllerTraceDataKey"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

void write_value(JsonWriter& json, const std::string& value) {
  if (is_strict_json(value))
    json.raw(value);
  else
    json.value(value);
}

// A rank that is filtered away is not spoken of.
bool is_wanted(const MergePlan& plan, std::int64_t rank) {
  return !plan.filter || plan.filter->wants_rank(rank);
}

void write_file(JsonWriter& json, const FilePlan& file, std::uint64_t events,
                std::optional<std::uint64_t> filtered) {
  json.begin_object();
  json.key("path");
  json.value(file.path);
  json.key("evidence");
  json.value(to_string(file.rank.source));
  json.key("method");
  json.value(to_string(file.clock.method));
  json.key("offset_ns");
  json.value(file.clock.offset_ns);
  json.key("error_ns");
  json.value(file.clock.error_ns);
  json.key("events");
  json.value(events);
  if (filtered) {
    json.key("filtered");
    json.value(*filtered);
  }
  json.end_object();
}

// The ranks that a file has events of.
std::vector<std::int64_t> ranks_of(const FileRank& rank) {
  if (!rank.is_merged()) return {rank.rank};
  std::vector<std::int64_t> ranks;
  for (const auto& [pid, one] : rank.rank_of_pid) ranks.push_back(one);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void write_ranks(JsonWriter& json, const MergePlan& plan,
                 const std::vector<std::uint64_t>& events) {
  json.begin_array();
  for (const OutputRank& rank : plan.tracks.ranks()) {
    if (!is_wanted(plan, rank.rank)) continue;
    json.begin_object();
    json.key("rank");
    json.value(rank.rank);
    json.key("files");
    json.begin_array();
    for (std::size_t i = 0; i < plan.files.size(); ++i) {
      const std::vector<std::int64_t> ranks = ranks_of(plan.files[i].rank);
      if (std::binary_search(ranks.begin(), ranks.end(), rank.rank))
        write_file(json, plan.files[i], events[i],
                   plan.filter ? std::optional(plan.filter->filtered(i)) : std::nullopt);
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void write_left_out(JsonWriter& json, const std::vector<LeftOut>& left_out) {
  json.begin_array();
  for (const LeftOut& file : left_out) {
    json.begin_object();
    json.key("path");
    json.value(file.path);
    json.key("error");
    json.value(file.error);
    json.end_object();
  }
  json.end_array();
}

// What a rank's files said beside their events. A key that several files of the rank have, with
// different values, keeps each of them, in a list.
using RankValues = std::map<std::string, std::vector<std::string>>;

void add_value(std::vector<std::string>& values, const std::string& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

// What an earlier merge has written by this function.
void add_merged_values(const std::string& other_data, std::map<std::int64_t, RankValues>& ranks) {
  for (const auto& [number, members] : json_members(json_member(other_data, "ranks")))
    if (const std::optional<std::int64_t> rank = json_integer(number))
      for (const auto& [key, value] : json_members(members)) add_value(ranks[*rank][key], value);
}

std::map<std::int64_t, RankValues> values_by_rank(const MergePlan& plan,
                                                  const std::vector<FileSurvey>& surveys) {
  std::map<std::int64_t, RankValues> ranks;
  for (std::size_t i = 0; i < surveys.size(); ++i) {
    for (const TopLevelEntry& entry : surveys[i].top_level) {
      if (is_own_key(entry.key)) continue;
      if (entry.key == "otherData" && surveys[i].evidence.was_merged_by_us())
        add_merged_values(entry.value, ranks);
      else
        add_value(ranks[plan.files[i].rank.rank][entry.key], entry.value);
    }
  }
  return ranks;
}

void write_values(JsonWriter& json, const RankValues& values) {
  json.begin_object();
  for (const auto& [key, list] : values) {
    json.key(key);
    if (list.size() > 1) json.begin_array();
    for (const std::string& value : list) write_value(json, value);
    if (list.size() > 1) json.end_array();
  }
  json.end_object();
}

}  // namespace

std::string head_of_trace(const MergePlan& plan) {
  std::string text = "{\"displayTimeUnit\": \"";
  text += plan.sub_microsecond ? "ns" : "ms";
  text += "\",\n\"baseTimeNanoseconds\": ";
  text += std::to_string(plan.origin_ns);
  text += ",\n\"traceEvents\": [\n";
  const std::vector<OutputRank>& rows = plan.filter ? plan.filter->rows() : plan.tracks.ranks();
  for (const OutputRank& rank : rows) write_metadata(text, rank);
  return text;
}

std::string tail_of_trace(const MergePlan& plan, const std::vector<FileSurvey>& surveys,
                          const std::vector<std::uint64_t>& events,
                          const std::vector<ProblemCounts>& problems,
                          const std::vector<LeftOut>& left_out) {
  std::string text = "\n],\n\"otherData\": ";
  JsonWriter json(text);
  json.begin_object();
  json.key("traceloom");
  json.begin_object();
  json.key("version");
  json.value(TRACELOOM_VERSION);
  json.key("origin_ns");
  json.value(plan.origin_ns);
  if (plan.filter) {
    json.key("filter");
    write_filter(json, plan.filter->filter());
  }
  json.key("ranks");
  write_ranks(json, plan, events);
  json.key("problems");
  json.begin_array();
  for (std::size_t i = 0; i < problems.size(); ++i)
    if (!plan.filter || plan.filter->wants_file(i))
      write_problems(json, plan.files[i].path, problems[i]);
  json.end_array();
  if (!left_out.empty()) {
    json.key("left_out");
    write_left_out(json, left_out);
  }
  json.end_object();
  json.key("ranks");
  json.begin_object();
  for (const auto& [rank, values] : values_by_rank(plan, surveys)) {
    if (!is_wanted(plan, rank)) continue;
    json.key(std::to_string(rank));
    write_values(json, values);
  }
  json.end_object();
  json.end_object();
  text += "}";
  return text;
}

}  // namespace traceloom
