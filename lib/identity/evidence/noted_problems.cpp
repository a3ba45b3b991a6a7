#include "identity/evidence/noted_problems.h"

#include "base/json_walk.h"
#include "event/event.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace traceloom {
namespace {

constexpr std::string_view kWhen = "found when it was merged: ";
constexpr std::array kNoted{Problem::clock_conflict, Problem::no_common_collective,
                            Problem::ranks_apart};

}  // namespace

void add_noted_problems(std::string_view traceloom, ProblemCounts& problems) {
  std::array<std::string, kNoted.size()> words;
  for_each_element(find_member(traceloom, "problems"), [&](std::string_view object) {
    const std::string kind = decoded(find_member(object, "kind"));
    const auto known = std::ranges::find(
        kNoted, kind, [](Problem problem) { return std::string(describe(problem).name); });
    const std::int64_t count = json_integer(find_member(object, "count")).value_or(0);
    if (known == kNoted.end() || count <= 0) return;
    problems.add(*known, 0, static_cast<std::uint64_t>(count));
    std::string detail = decoded(find_member(object, "detail"));
    if (detail.starts_with(kWhen)) detail.erase(0, kWhen.size());
    // A merged file is moved as a whole, so the option for one of its ranks would do nothing.
    // Older notes have the option without the command.
    for (const std::string_view option : {"; trace-merge --offset ", "; --offset "})
      detail.erase(std::min(detail.find(option), detail.size()));
    std::string& all = words[static_cast<std::size_t>(known - kNoted.begin())];
    all += (all.empty() ? "" : "; ") + detail;
  });
  for (std::size_t i = 0; i < kNoted.size(); ++i)
    if (!words[i].empty()) problems.explain(kNoted[i], std::string(kWhen) + words[i]);
}

}  // namespace traceloom
