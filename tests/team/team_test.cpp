#include "team/team.h"

#include "base/problems.h"
#include "support/thread_transport.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using Strings = std::vector<std::string>;

// What each process of a team says that it caught, by rank.
Strings caught_by(std::size_t processes, const std::function<void(Team&)>& work) {
  Strings caught(processes);
  run_as_team(processes, [&](Team& team) {
    try {
      work(team);
    } catch (const UsageError& error) {
      caught[team.rank()] = std::string("usage: ") + error.what();
    } catch (const Error& error) {
      caught[team.rank()] = std::string("error: ") + error.what();
    }
  });
  return caught;
}

}  // namespace

TEST_CASE("team: a tool alone is a team of one") {
  Team team;
  CHECK(team.is_alone());
  CHECK(team.is_first());
  CHECK(team.broadcast("x") == "x");
  CHECK(team.exchange({"x"}) == Strings{"x"});
  Strings gathered;
  team.gather("x", [&](std::size_t rank, const std::string& bytes) {
    gathered.push_back(std::to_string(rank) + bytes);
  });
  CHECK(gathered == Strings{"0x"});
  CHECK_THROWS_WITH_AS(team.agree([] { throw Error("a", "is bad"); }), "a: is bad", Error);
  CHECK(team.end(3) == 3);
}

TEST_CASE("team: process 0 speaks to all, hears all, and all exchange") {
  for (const std::size_t processes : {1, 2, 5}) {
    CAPTURE(processes);
    Strings heard(processes);
    Strings gathered;
    std::vector<Strings> exchanged(processes);
    run_as_team(processes, [&](Team& team) {
      const std::string own = std::to_string(team.rank());
      heard[team.rank()] = team.broadcast(team.is_first() ? "hello" : "ignored");
      team.gather(own, [&](std::size_t rank, const std::string& bytes) {
        gathered.push_back(std::to_string(rank) + ":" + bytes);
      });
      Strings messages;
      for (std::size_t to = 0; to < team.size(); ++to)
        messages.push_back(own + ">" + std::to_string(to));
      exchanged[team.rank()] = team.exchange(std::move(messages));
    });
    CHECK(heard == Strings(processes, "hello"));
    for (std::size_t i = 0; i < processes; ++i) {
      CHECK(gathered[i] == std::to_string(i) + ":" + std::to_string(i));
      for (std::size_t from = 0; from < processes; ++from)
        CHECK(exchanged[i][from] == std::to_string(from) + ">" + std::to_string(i));
    }
  }
}

TEST_CASE("team: all throw what the lowest process throws") {
  CHECK(caught_by(3, [](Team& team) {
          team.agree([&] {
            if (team.rank() > 0) throw Error("rank" + std::to_string(team.rank()), "is bad");
          });
        }) == Strings{"usage: rank1: is bad", "error: rank1: is bad", "usage: rank1: is bad"});
  CHECK(caught_by(2, [](Team& team) { team.agree([] { throw UsageError("no"); }); }) ==
        Strings{"usage: no", "usage: no"});
}

TEST_CASE("team: an exception while process 0 gathers leaves nobody waiting") {
  std::atomic<int> ended = 0;
  CHECK(caught_by(3, [&](Team& team) {
          team.gather("x", [](std::size_t rank, const std::string&) {
            if (rank == 1) throw Error("message", "is bad");
          });
          if (team.is_first()) return;
          try {
            team.broadcast({});
          } catch (const TeamEnded&) {
            ++ended;
            throw;
          }
        }) == Strings{"error: message: is bad", "", ""});
  CHECK(ended == 2);
}

TEST_CASE("team: all return the exit code of process 0") {
  std::vector<int> codes(3);
  Mailboxes mailboxes(3);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      Team team(std::make_unique<ThreadTransport>(rank, mailboxes));
      codes[rank] = team.end(rank == 0 ? 3 : 0);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(codes == std::vector<int>{3, 3, 3});
}
