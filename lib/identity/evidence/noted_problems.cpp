#include "identity/evidence/noted_problems.h"

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

void add_noted_problems(JsonValue traceloom, ProblemCounts& problems) {
  std::array<std::string, kNoted.size()> words;
  for (const JsonValue object : traceloom["problems"].elements()) {
    const std::string kind = object["kind"].string();
    const auto known = std::ranges::find(
        kNoted, kind, [](Problem problem) { return std::string(describe(problem).name); });
    const std::int64_t count = object["count"].integer().value_or(0);
    if (known == kNoted.end() || count <= 0) continue;
    problems.add(*known, 0, static_cast<std::uint64_t>(count));
    std::string detail = object["detail"].string();
    if (detail.starts_with(kWhen)) detail.erase(0, kWhen.size());
    // A merged file is moved as a whole, so the option for one of its ranks would do nothing.
    // Older notes have the option without the command.
    for (const std::string_view option : {"; trace-merge --offset ", "; --offset "})
      detail.erase(std::min(detail.find(option), detail.size()));
    std::string& all = words[static_cast<std::size_t>(known - kNoted.begin())];
    all += (all.empty() ? "" : "; ") + detail;
  }
  for (std::size_t i = 0; i < kNoted.size(); ++i)
    if (!words[i].empty()) problems.explain(kNoted[i], std::string(kWhen) + words[i]);
}

}  // namespace traceloom
