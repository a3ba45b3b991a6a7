#include "identity/evidence/merged_inputs.h"

#include "base/saturating.h"
#include "clock/alignment.h"

#include <utility>

namespace traceloom {
namespace {

// Returns nullopt if the tally is missing or damaged; the input is then looked up by its name.
std::optional<EventTally> read_tally(JsonValue object) {
  const auto events = object["events"].integer();
  const auto first_ns = object["first_ns"].integer();
  const auto last_ns = object["last_ns"].integer();
  const auto sum_ns = object["sum_ns"].integer();
  const auto lengths_ns = object["lengths_ns"].integer();
  const auto first_event = object["first_event"].integer();
  if (!events || *events < 0 || !first_ns || !last_ns || !sum_ns || !lengths_ns || !first_event)
    return std::nullopt;
  return EventTally{.events = static_cast<std::uint64_t>(*events),
                    .first_ns = *first_ns,
                    .last_ns = *last_ns,
                    .sum_ns = static_cast<std::uint64_t>(*sum_ns),
                    .lengths_ns = static_cast<std::uint64_t>(*lengths_ns),
                    .first_event = static_cast<std::uint64_t>(*first_event)};
}

std::vector<Stamp> read_stamps(JsonValue list, std::int64_t rank) {
  std::vector<Stamp> stamps;
  for (const JsonValue object : list.elements()) {
    stamps.push_back({object["rank"].integer().value_or(rank), object["tid"].string(),
                      object["sync_us"].integer()});
  }
  return stamps;
}

MergedInput read_input(JsonValue object, std::int64_t rank) {
  MergedInput input;
  input.rank = rank;
  input.path = object["path"].string();
  const std::string evidence = object["evidence"].string();
  input.says_rank = evidence != "position" && evidence != "RANK= argument";
  const std::string method = object["method"].string();
  input.has_clock = method != "none";
  input.by_collectives = method == to_string(ClockMethod::collectives);
  input.offset_ns = object["offset_ns"].integer().value_or(0);
  const auto events = object["events"].integer();
  const auto filtered = object["filtered"].integer();
  if (events && *events >= 0)
    input.events = static_cast<std::uint64_t>(saturating_add(*events, filtered.value_or(0)));
  input.tally = read_tally(object["tally"]);
  input.is_part = object["is_part"].text() == "true";
  input.stamps = read_stamps(object["stamps"], rank);
  input.has_several_ranks = object["has_several_ranks"].text() == "true";
  return input;
}

}  // namespace

std::vector<MergedInput> read_merged_inputs(JsonValue traceloom) {
  std::vector<MergedInput> inputs;
  const bool is_filtered = traceloom["filter"].is_there();
  for (const JsonValue of_rank : traceloom["ranks"].elements()) {
    const auto rank = of_rank["rank"].integer();
    if (!rank) continue;
    for (const JsonValue file : of_rank["files"].elements()) {
      const std::size_t known = inputs.size();
      for (const JsonValue input : file["inputs"].elements())
        inputs.push_back(read_input(input, *rank));
      if (inputs.size() == known) inputs.push_back(read_input(file, *rank));
    }
  }
  for (MergedInput& input : inputs) input.is_part = input.is_part || is_filtered;
  return inputs;
}

std::vector<MergedInput> inputs_of_rank(const std::vector<MergedInput>& inputs, std::int64_t rank,
                                        std::int64_t offset_ns, std::int64_t base_ns) {
  std::vector<MergedInput> moved;
  for (const MergedInput& input : inputs) {
    if (input.rank != rank) continue;
    moved.push_back(input);
    moved.back().offset_ns =
        saturating_add(input.offset_ns, saturating_subtract(offset_ns, base_ns));
  }
  return moved;
}

}  // namespace traceloom
