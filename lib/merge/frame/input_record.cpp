#include "merge/frame/input_record.h"

#include <optional>
#include <string_view>
#include <vector>

namespace traceloom {
namespace {

// Writes a signed number: many parsers have no other numbers of 64 bits.
void write_number(JsonWriter& json, std::string_view key, std::uint64_t number) {
  json.key(key);
  json.value(static_cast<std::int64_t>(number));
}

void write_tally(JsonWriter& json, const EventTally& tally) {
  json.key("tally");
  json.begin_object();
  write_number(json, "events", tally.events);
  json.key("first_ns");
  json.value(tally.first_ns);
  json.key("last_ns");
  json.value(tally.last_ns);
  write_number(json, "sum_ns", tally.sum_ns);
  write_number(json, "lengths_ns", tally.lengths_ns);
  write_number(json, "first_event", tally.first_event);
  json.end_object();
}

void write_true(JsonWriter& json, std::string_view key) {
  json.key(key);
  json.value(true);
}

template <class Stamps>
void write_stamps(JsonWriter& json, const Stamps& stamps) {
  if (stamps.empty()) return;
  json.key("stamps");
  json.begin_array();
  for (const Stamp& stamp : stamps) {
    json.begin_object();
    json.key("rank");
    json.value(stamp.rank);
    json.key("tid");
    json.value(stamp.tid);
    if (stamp.sync_us) {
      json.key("sync_us");
      json.value(*stamp.sync_us);
    }
    json.end_object();
  }
  json.end_array();
}

// read_merged_inputs() reads this back.
void write_input(JsonWriter& json, const MergedInput& input) {
  json.begin_object();
  json.key("path");
  json.value(input.path);
  json.key("evidence");
  json.value(input.says_rank ? "file" : "position");
  json.key("method");
  json.value(to_string(input.by_collectives ? ClockMethod::collectives
                       : input.has_clock    ? ClockMethod::merged
                                            : ClockMethod::none));
  json.key("offset_ns");
  json.value(input.offset_ns);
  json.key("events");
  json.value(input.events);
  if (input.tally) write_tally(json, *input.tally);
  write_stamps(json, input.stamps);
  if (input.has_several_ranks) write_true(json, "has_several_ranks");
  if (input.is_part) write_true(json, "is_part");
  json.end_object();
}

}  // namespace

void write_tally_or_inputs(JsonWriter& json, const FileEvidence& evidence, std::int64_t rank,
                           const FileClock& clock) {
  const std::vector<MergedInput> inputs =
      inputs_of_rank(evidence.inputs, rank, clock.offset_ns, evidence.base_ns.value_or(0));
  if (inputs.empty()) {
    if (evidence.tally.empty()) return;
    write_tally(json, evidence.tally);
    const bool has_several = evidence.has_several_ranks();
    write_stamps(json, stamps_of(evidence, has_several ? std::optional(rank) : std::nullopt));
    if (has_several) write_true(json, "has_several_ranks");
    return;
  }
  json.key("inputs");
  json.begin_array();
  for (const MergedInput& input : inputs) write_input(json, input);
  json.end_array();
}

}  // namespace traceloom
