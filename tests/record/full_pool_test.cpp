// These tests fill a pool: events are dropped and the drops reported, rings overwrite, threads are
// capped.
#include "record/journal/journal.h"
#include "record/recorded.h"
#include "support/child_process.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

void set_pool(Options& options, std::size_t chunks) {
  options.pool_bytes = options.max_pool_bytes = chunks * 65536;
}

// Keeps the writer in on_saved() of the first trace.
class SlowProgram {
 public:
  explicit SlowProgram(Options& options) {
    options.on_saved = [this](const SavedTrace&) {
      is_told_ = true;
      while (!may_go_on_) std::this_thread::yield();
    };
  }
  void wait_until_told() const {
    while (!is_told_) std::this_thread::yield();
  }
  void go_on() { may_go_on_ = true; }

 private:
  std::atomic<bool> is_told_ = false;
  std::atomic<bool> may_go_on_ = false;
};

}  // namespace

TEST_CASE("session: when the pool is full, offered events are those written and those dropped") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  set_pool(options, 2);
  options.flush_ms = 10'000;
  constexpr std::uint64_t kOffered = 200'000;
  const Marker marker("work");
  SUBCASE("drop") {
    options.when_full = WhenFull::drop;
  }
  SUBCASE("ring") {
    options.when_full = WhenFull::ring;
  }
  SUBCASE("block") {
    options.when_full = WhenFull::block;
  }
  Session session(options);
  record_scopes(marker, kOffered);
  session.close();
  REQUIRE(session.saved_traces().size() == 1);
  const SavedTrace saved = session.saved_traces()[0];
  const Events events = Events::of_file(saved.path);
  CHECK(events.count("work", "X") == saved.events);
  CHECK(saved.events + saved.dropped == kOffered);
  CHECK(session.status().dropped == saved.dropped);
  CHECK(events.of("recorder", "M")
            .with("\"dropped\":" + std::to_string(saved.dropped) + ",")
            .size() == 1);
  if (options.when_full == WhenFull::ring) CHECK(saved.events <= 2 * 2046);
  if (options.when_full == WhenFull::ring) CHECK(saved.events > 2046);
}

TEST_CASE("session: a ring that is saved has what was recorded before, whatever comes behind") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  set_pool(options, 4);
  options.when_full = WhenFull::ring;
  options.schedule = [](const Position& at) {
    return at.batch < 2 ? Action::active_and_save : Action::active;
  };
  Session session(options);
  const Marker marker("work");
  Position position;
  const std::vector<std::uint64_t> offered{3000, 5000};
  for (const std::uint64_t count : offered) {
    run_batch(session, position, [&] { record_scopes(marker, count); });
  }
  session.batch_begin(position);
  record_scopes(marker, 500'000);
  session.close();
  const std::vector<SavedTrace> saved = session.saved_traces();
  REQUIRE(saved.size() == 3);
  CHECK(saved[0].events == 3000);
  CHECK(saved[0].dropped == 0);
  CHECK(Events::of_file(saved[0].path).count("work", "X") == 3000);
  // The second may have met a pool that waited for the first, but knows what it lost.
  CHECK(saved[1].events + saved[1].dropped == 5000);
  CHECK(saved[2].events + saved[2].dropped == 500'000);
}

TEST_CASE("session: a ring goes on while the program is told of the trace before") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  set_pool(options, 4);
  options.when_full = WhenFull::ring;
  options.schedule = [](const Position&) { return Action::active_and_save; };
  SlowProgram program(options);
  Session session(options);
  const Counter counter("number", "", {"value"});
  Position position;
  run_batch(session, position, [] {});
  session.batch_begin(position);
  program.wait_until_told();
  for (int i = 0; i < 50'000; ++i) counter.record(i);
  program.go_on();
  ++position.batch;
  session.batch_end(position);
  session.close();
  const Events events = Events::of_file(folder.path("ep0-ba2-rank0.json")).of("number", "C");
  CHECK(events.size() > 2046);
  CHECK(events.with("{\"value\":49999}").size() == 1);
}

TEST_CASE("session: what found no room behind the last cycle is told in one more file") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  set_pool(options, 2);
  options.schedule = [](const Position&) { return Action::active_and_save; };
  SlowProgram program(options);
  Session session(options);
  const Marker marker("work");
  Position position;
  run_batch(session, position, [] {});
  session.batch_begin(position);
  program.wait_until_told();
  record_scopes(marker, 10'000);
  ++position.batch;
  session.batch_end(position);
  for (int i = 0; i < 500; ++i) marker.instant();
  program.go_on();
  session.close();
  const std::vector<SavedTrace> saved = session.saved_traces();
  REQUIRE(saved.size() == 3);
  CHECK(saved[1].events + saved[1].dropped == 10'000);
  CHECK(saved[2].events == 0);
  CHECK(saved[2].dropped == 500);
  CHECK(session.status().dropped == saved[1].dropped + 500);
}

TEST_CASE("session: each file tells what was dropped in its own cycle") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  set_pool(options, 2);
  options.schedule = [](const Position&) { return Action::active_and_save; };
  Session session(options);
  const Marker marker("work");
  const std::vector<std::uint64_t> offered{100'000, 50'000, 20'000, 10};
  Position position;
  for (const std::uint64_t count : offered) {
    run_batch(session, position, [&] { record_scopes(marker, count); });
  }
  session.close();
  const std::vector<SavedTrace> saved = session.saved_traces();
  REQUIRE(saved.size() == offered.size());
  for (std::size_t i = 0; i < offered.size(); ++i) {
    CHECK(saved[i].events + saved[i].dropped == offered[i]);
    CHECK(Events::of_file(saved[i].path)
              .of("recorder", "M")
              .with("\"dropped\":" + std::to_string(saved[i].dropped) + ",")
              .size() == 1);
  }
}

TEST_CASE("session: a ring keeps the last events") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  set_pool(options, 2);
  options.when_full = WhenFull::ring;
  Session session(options);
  const Counter counter("number", "", {"value"});
  const Counter wide("wide", "", {"a", "b", "c", "d", "e", "f", "g"});  // three slots each
  for (int i = 0; i < 10'000; ++i) {
    counter.record(i);
    wide.record(1, 2, 3, 4, 5, 6, 7);
  }
  session.close();
  const SavedTrace saved = session.saved_traces().at(0);
  CHECK(saved.events + saved.dropped == 20'000);
  const Events events = Events::of_file(saved.path).of("number", "C");
  CHECK(events.size() > 500);
  for (std::size_t i = 0; i < events.size(); ++i)
    REQUIRE(events[i].find("{\"value\":" + std::to_string(10'000 - events.size() + i) + "}") !=
            std::string::npos);
}

TEST_CASE("session: more threads than the pool has chunks get one each up to the cap") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.pool_bytes = 4 * 65536;
  options.max_pool_bytes = 64 * 65536;
  Session session(options);
  static const Marker marker("work");
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 32; ++i)
    threads.emplace_back([&] {
      { const Scope scope(marker); }
      ++arrived;
      while (arrived < 32) std::this_thread::yield();
    });
  for (std::thread& thread : threads) thread.join();
  session.close();
  CHECK(Events::of_file(only_trace(session)).count("work", "X") == 32);
  CHECK(session.status().peak_pool_bytes >= 32 * 65536);
}

TEST_CASE("session: with a journal, too, all of very many threads record all") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.journal_folder = folder.path("journal");
  static const Marker marker("work");
  Session session(options);
  constexpr int kThreads = 300;
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      record_scopes(marker, 20);
      ++arrived;
      while (arrived < kThreads) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  for (std::thread& thread : threads) thread.join();
  session.close();
  CHECK(session.status().dropped == 0);
  CHECK(Events::of_file(only_trace(session)).count("work", "X") == kThreads * 20);
  CHECK(session.status().peak_pool_bytes >= kThreads * 65536);
}

TEST_CASE("session: a thread gets another chunk although others fill more than the pool") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.pool_bytes = 16 * 65536;
  SUBCASE("without a journal") {}
  SUBCASE("with a journal") {
    options.journal_folder = folder.path("journal");
  }
  static const Marker marker("work");
  Session session(options);
  constexpr int kThreads = 32;
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      record_scopes(marker, 1);
      ++arrived;
      while (arrived < kThreads) std::this_thread::yield();
      if (i < 4) record_scopes(marker, 3000);
      ++arrived;
      while (arrived < 2 * kThreads) std::this_thread::yield();  // chunks of ended threads are full
    });
  for (std::thread& thread : threads) thread.join();
  session.close();
  CHECK(session.status().dropped == 0);
  CHECK(session.status().events == kThreads + 4 * 3000);
}

TEST_CASE("session: a journal that cannot grow drops events, and the file says how many") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.journal_folder = folder.path("journal");
  options.pool_bytes = 65536;
  CHECK(run_child([&] {
          limit_file_size(JournalLayout::head_bytes() + 3 * 65536);
          std::signal(SIGXFSZ, SIG_DFL);  // it would end the training
          Session session(options);
          static const Marker marker("work");
          std::atomic<int> arrived{0};
          std::vector<std::thread> threads;
          for (int i = 0; i < 5; ++i)
            threads.emplace_back([&] {
              record_scopes(marker, 10);
              ++arrived;
              while (arrived < 5) std::this_thread::yield();
            });
          for (std::thread& thread : threads) thread.join();
          const Status end = session.close();
          if (end.events != 30 || end.dropped != 20) _exit(1);
        }) == 0);
  CHECK(Events::of_file(folder.path("ep0-ba0-rank0.json"))
            .of("recorder", "M")
            .with("\"dropped\":20,")
            .size() == 1);
}

TEST_CASE("session: full chunks of an earlier one make no file") {
  const TemporaryFolder folder;
  const Marker marker("work");
  std::atomic<int> arrived = 0;
  std::atomic<bool> may_end = false;
  std::vector<std::thread> threads;
  {
    Session session(options_for(folder));
    for (int i = 0; i < 10; ++i)
      threads.emplace_back([&] {
        { const Scope scope(marker); }
        ++arrived;
        while (!may_end) std::this_thread::yield();
      });
    while (arrived < 10) std::this_thread::yield();
  }
  const std::string later = folder.path("later");
  Options options = options_for(folder);
  options.folder = later;
  options.pool_bytes = options.max_pool_bytes = 1 << 20;
  options.schedule = [](const Position&) { return Action::skip; };
  Session session(options);
  may_end = true;
  for (std::thread& thread : threads) thread.join();
  // The writer has looked at the pool when it takes the second.
  for (int i = 0; i < 2; ++i) session.flush();
  session.close();
  CHECK(session.saved_traces().empty());
  CHECK(files_in(later).empty());
}
