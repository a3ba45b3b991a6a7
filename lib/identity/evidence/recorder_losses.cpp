#include "identity/evidence/recorder_losses.h"

#include "json/json_document.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace traceloom {
namespace {

std::uint64_t count_of(JsonValue value) {
  const std::optional<std::int64_t> number = value.integer();
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

// The text goes to terminals, and a file may hold any text, so only plain ASCII is accepted.
bool is_plain(const std::string& text) {
  constexpr std::size_t kMostOfText = 100;
  return text.size() <= kMostOfText &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// `error` is the system's message, in the language of the recorder's system.
std::string next_step(const std::string& error) {
  constexpr std::array kNoRoom{ENOSPC, EDQUOT};
  const bool has_no_room = std::any_of(kNoRoom.begin(), kNoRoom.end(), [&](int number) {
    return error == std::generic_category().message(number);
  });
  return has_no_room ? "; free the disk" : "";
}

}  // namespace

void add_recorder_losses(const Event& event, ProblemCounts& problems) {
  const JsonDocument args(event.text(Key::args));
  const std::string error = args["error"].string();
  const std::uint64_t lost = count_of(args["lost"]);
  // A `recorder` event without a loss of our own may come from another profiler, or may be about
  // clocks.
  problems.add(Problem::events_lost, event.offset,
               error.empty() ? lost : std::max<std::uint64_t>(lost, 1));
  if (!error.empty() && is_plain(error))
    problems.explain(Problem::events_lost, error + next_step(error));
  if (args["when_full"].string() != "ring")
    problems.add(Problem::events_dropped, event.offset, count_of(args["dropped"]));
  problems.add(Problem::events_unnamed, event.offset, count_of(args["unnamed"]));
  problems.add(Problem::events_damaged, event.offset, count_of(args["damaged"]));
}

bool reports_losses(const Event& event) {
  ProblemCounts problems;
  add_recorder_losses(event, problems);
  return !problems.empty();
}

}  // namespace traceloom
