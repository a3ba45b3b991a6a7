#include "identity/evidence/rounds_json.h"

#include "base/json_walk.h"
#include "event/trace_time.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// Returns false if `list` is no list of times.
bool read_times(std::string_view list, std::vector<std::int64_t>& times) {
  bool is_good = is_json_list(list);
  for_each_element(list, [&](std::string_view value) {
    const std::optional<ParsedTime> time = parse_time(value);
    is_good = is_good && time && is_usable_stamp(time->rounded_ns());
    if (is_good) times.push_back(time->rounded_ns());
  });
  return is_good;
}

}  // namespace

std::optional<SyncRounds> read_rounds(std::string_view object) {
  SyncRounds rounds;
  const bool is_good = read_times(find_member(object, "enter"), rounds.enter_ns) &&
                       read_times(find_member(object, "exit"), rounds.exit_ns) &&
                       is_possible(rounds);
  return is_good ? std::optional(std::move(rounds)) : std::nullopt;
}

}  // namespace traceloom
