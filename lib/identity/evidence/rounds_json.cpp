#include "identity/evidence/rounds_json.h"

#include "event/trace_time.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// Returns false if `list` is no list of times.
bool read_times(JsonValue list, std::vector<std::int64_t>& times) {
  bool is_good = list.is_list();
  for (const JsonValue value : list.elements()) {
    const std::optional<ParsedTime> time = parse_time(value.text());
    is_good = is_good && time && is_usable_stamp(time->rounded_ns());
    if (is_good) times.push_back(time->rounded_ns());
  }
  return is_good;
}

}  // namespace

std::optional<SyncRounds> read_rounds(JsonValue object) {
  SyncRounds rounds;
  const bool is_good = read_times(object["enter"], rounds.enter_ns) &&
                       read_times(object["exit"], rounds.exit_ns) && is_possible(rounds);
  return is_good ? std::optional(std::move(rounds)) : std::nullopt;
}

}  // namespace traceloom
