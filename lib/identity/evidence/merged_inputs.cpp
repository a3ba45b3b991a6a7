#include "identity/evidence/merged_inputs.h"

#include "base/json_walk.h"
#include "base/saturating.h"
#include "clock/alignment.h"
#include "event/event.h"

#include <utility>

namespace traceloom {
namespace {

// Returns nullopt if the tally is missing or damaged; the input is then looked up by its name.
std::optional<EventTally> read_tally(std::string_view object) {
  const auto events = json_integer(find_member(object, "events"));
  const auto first_ns = json_integer(find_member(object, "first_ns"));
  const auto last_ns = json_integer(find_member(object, "last_ns"));
  const auto sum_ns = json_integer(find_member(object, "sum_ns"));
  const auto lengths_ns = json_integer(find_member(object, "lengths_ns"));
  const auto first_event = json_integer(find_member(object, "first_event"));
  if (!events || *events < 0 || !first_ns || !last_ns || !sum_ns || !lengths_ns || !first_event)
    return std::nullopt;
  return EventTally{.events = static_cast<std::uint64_t>(*events),
                    .first_ns = *first_ns,
                    .last_ns = *last_ns,
                    .sum_ns = static_cast<std::uint64_t>(*sum_ns),
                    .lengths_ns = static_cast<std::uint64_t>(*lengths_ns),
                    .first_event = static_cast<std::uint64_t>(*first_event)};
}

std::vector<Stamp> read_stamps(std::string_view array, std::int64_t rank) {
  std::vector<Stamp> stamps;
  for_each_element(array, [&](std::string_view object) {
    stamps.push_back({json_integer(find_member(object, "rank")).value_or(rank),
                      decoded(find_member(object, "tid")),
                      json_integer(find_member(object, "sync_us"))});
  });
  return stamps;
}

MergedInput read_input(std::string_view object, std::int64_t rank) {
  MergedInput input;
  input.rank = rank;
  input.path = decoded(find_member(object, "path"));
  const std::string evidence = decoded(find_member(object, "evidence"));
  input.says_rank = evidence != "position" && evidence != "RANK= argument";
  const std::string method = decoded(find_member(object, "method"));
  input.has_clock = method != "none";
  input.by_collectives = method == to_string(ClockMethod::collectives);
  input.offset_ns = json_integer(find_member(object, "offset_ns")).value_or(0);
  const auto events = json_integer(find_member(object, "events"));
  const auto filtered = json_integer(find_member(object, "filtered"));
  if (events && *events >= 0)
    input.events = static_cast<std::uint64_t>(saturating_add(*events, filtered.value_or(0)));
  input.tally = read_tally(find_member(object, "tally"));
  input.is_part = find_member(object, "is_part") == "true";
  input.stamps = read_stamps(find_member(object, "stamps"), rank);
  input.has_several_ranks = find_member(object, "has_several_ranks") == "true";
  return input;
}

}  // namespace

std::vector<MergedInput> read_merged_inputs(std::string_view traceloom) {
  std::vector<MergedInput> inputs;
  const bool is_filtered = !find_member(traceloom, "filter").empty();
  for_each_element(find_member(traceloom, "ranks"), [&](std::string_view of_rank) {
    const auto rank = json_integer(find_member(of_rank, "rank"));
    if (!rank) return;
    for_each_element(find_member(of_rank, "files"), [&](std::string_view file) {
      const std::size_t known = inputs.size();
      for_each_element(find_member(file, "inputs"),
                       [&](std::string_view input) { inputs.push_back(read_input(input, *rank)); });
      if (inputs.size() == known) inputs.push_back(read_input(file, *rank));
    });
  });
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
