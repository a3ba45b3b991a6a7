#include "per_rank/per_rank.h"

#include "base/problems.h"
#include "support/thread_transport.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

// A run of so many ranks, of which process p has each whose number leaves the rest p.
Run run_of(std::size_t ranks, Team& team) {
  Run run;
  run.team = &team;
  run.threads = 2;
  for (std::size_t i = 0; i < ranks; ++i) {
    RankEvents& rank = run.ranks.emplace_back();
    rank.rank = static_cast<std::int64_t>(i);
    rank.is_here = i % team.size() == team.rank();
  }
  return run;
}

}  // namespace

TEST_CASE("per_rank: all processes get all values, and each is made once, where the events are") {
  for (const std::size_t processes : {1, 2, 3}) {
    CAPTURE(processes);
    std::vector<std::atomic<int>> made(200);
    run_as_team(processes, [&](Team& team) {
      const Run run = run_of(200, team);
      const std::vector<std::string> values = per_rank<std::string>(run, [&](std::size_t rank) {
        CHECK(run.ranks[rank].is_here);
        ++made[rank];
        return "value " + std::to_string(rank);
      });
      CHECK(values.size() == 200);
      for (std::size_t rank = 0; rank < values.size(); ++rank)
        CHECK(values[rank] == "value " + std::to_string(rank));
    });
    for (const std::atomic<int>& times : made) CHECK(times == 1);
  }
}

TEST_CASE("per_rank: values are used in the order of a list of ranks") {
  for (const std::size_t processes : {1, 2, 3}) {
    CAPTURE(processes);
    run_as_team(processes, [&](Team& team) {
      const Run run = run_of(8, team);
      std::vector<std::pair<std::size_t, std::size_t>> used;
      for_each_rank<std::size_t>(
          run, {5, 1, 7}, [](std::size_t rank) { return 10 * rank; },
          [&](std::size_t rank, std::size_t value) { used.emplace_back(rank, value); });
      CHECK(used == std::vector<std::pair<std::size_t, std::size_t>>{{5, 50}, {1, 10}, {7, 70}});
      CHECK(per_rank<std::size_t>(run, {}, [](std::size_t rank) { return rank; }).empty());
    });
  }
}

TEST_CASE("per_rank: if a value cannot be made, all processes say why") {
  for (const std::size_t processes : {1, 2, 3}) {
    CAPTURE(processes);
    std::atomic<std::size_t> told = 0;
    run_as_team(processes, [&](Team& team) {
      const Run run = run_of(6, team);
      try {
        per_rank<int>(run, [](std::size_t rank) {
          if (rank == 4) throw UsageError("rank 4 is too large");
          return 0;
        });
      } catch (const UsageError& error) {
        told += std::string(error.what()) == "rank 4 is too large" ? 1 : 0;
      }
    });
    CHECK(told == processes);
  }
}
