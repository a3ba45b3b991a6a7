// These tests check events that end after the last cycle, and files that come with the name of one
// before.
#include "record/recorded.h"
#include "record/schedule.h"

#include <thread>

using namespace traceloom;
using namespace traceloom::record;

namespace {

Action first_batch_alone(const Position& at) {
  return at.batch == 0 ? Action::active_and_save : Action::skip;
}

}  // namespace

TEST_CASE("session: what ends after the last cycle never takes the place of that cycle") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = first_batch_alone;
  SUBCASE("files may be overwritten") {
    options.overwrite = true;
  }
  SUBCASE("one trace is kept") {
    options.num_traces_to_keep = 1;
  }
  Session session(options);
  const Marker late("late");
  const Marker marker("work");
  Position position;
  run_batch(session, position, [&] {
    late.start();
    record_scopes(marker, 1000);
  });
  late.finish();
  session.close();
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{"ep0-ba1-rank0-2.json", "ep0-ba1-rank0.json"});
  CHECK(Events::of_file(folder.path("ep0-ba1-rank0.json")).count("work", "X") == 1000);
  CHECK(Events::of_file(folder.path("ep0-ba1-rank0-2.json")).count("late", "X") == 1);
}

TEST_CASE(
    "session: a rest keeps off its session's files, and takes the place of an earlier run's") {
  const TemporaryFolder folder;
  for (int run = 0; run < 3; ++run) {
    Options options = options_for(folder);
    options.overwrite = true;
    options.file_name = [](const Position& at) {
      return "ba" + std::to_string(at.batch) + ".json";
    };
    options.schedule = first_batch_alone;
    Session session(options);
    const Marker late("late");
    const Marker marker("work");
    Position position;
    run_batch(session, position, [&] {
      late.start();
      record_scopes(marker, 100);
    });
    ++position.epoch;  // another position of the same name
    session.set_position(position);
    late.finish();
    session.close();
    CHECK(files_in(folder.path()) == std::vector<std::string>{"ba1-2.json", "ba1.json"});
    CHECK(Events::of_file(folder.path("ba1.json")).count("work", "X") == 100);
    CHECK(Events::of_file(folder.path("ba1-2.json")).count("late", "X") == 1);
  }
}

TEST_CASE("session: a cycle that is closed in its first batch does not replace the one before") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = [](const Position&) { return Action::active_and_save; };
  options.overwrite = true;
  Session session(options);
  const Marker marker("work");
  Position position;
  run_batch(session, position, [&] { record_scopes(marker, 10); });
  session.batch_begin(position);
  { const Scope scope(marker); }
  session.close();
  CHECK(Events::of_file(folder.path("ep0-ba1-rank0.json")).count("work", "X") == 10);
  CHECK(Events::of_file(folder.path("ep0-ba1-rank0-2.json")).count("work", "X") == 1);
}

TEST_CASE("session: nothing is recorded behind the last batch of an epoch, where that is known") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  std::size_t batches = 0;
  SUBCASE("a cyclic schedule") {
    options.schedule = cyclic_schedule({.wait = 0, .warmup = 1, .active = 3, .repeat = 0});
    batches = 6;
  }
  SUBCASE("one of the program's own") {
    options.schedule = [](const Position& at) {
      return at.batch_in_epoch % 3 == 2 ? Action::active_and_save : Action::active;
    };
    batches = 6;
  }
  Session session(options);
  const Marker marker("work");
  const Marker between("between");
  Position position;
  position.epoch_batches = batches;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    position.epoch = epoch;
    position.batch_in_epoch = 0;
    if (epoch > 0) session.set_position(position);
    record_scopes(between, 1);  // belongs to the cycle that begins with the first batch
    for (std::size_t i = 0; i < batches; ++i) {
      session.batch_begin(position);
      record_scopes(marker, 1);
      ++position.batch, ++position.batch_in_epoch;
      session.batch_end(position);
    }
    CHECK(session.action() == Action::skip);
    record_scopes(between, 10);
    session.set_position(position);
    record_scopes(between, 10);
  }
  session.close();
  std::size_t recorded = 0;
  std::size_t recorded_between = 0;
  for (const std::string& name : files_in(folder.path())) {
    CAPTURE(name);
    CHECK(name.find("-2.json") == std::string::npos);
    const Events events = Events::of_file(folder.path(name));
    recorded += events.count("work", "X");
    recorded_between += events.count("between", "X");
  }
  CHECK(recorded == 2 * batches);
  CHECK(recorded_between == 2);
}

TEST_CASE("session: what lasts as long as the last epoch makes no trace of its own") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = cyclic_schedule({.wait = 0, .warmup = 0, .active = 2, .repeat = 0});
  options.flush_ms = 3'600'000;  // a machine may be busy
  const Marker epoch_marker("event/epoch", "", {.long_running = true});
  const Marker plain("plain");
  Session session(options);
  Position position;
  position.epoch_batches = 4;
  {
    const Scope epoch(epoch_marker);
    const Scope also(plain);
    for (int batch = 0; batch < 4; ++batch) {
      session.batch_begin(position);
      ++position.batch, ++position.batch_in_epoch;
      session.batch_end(position);
    }
  }
  SUBCASE("the session is closed") {
    session.close();
  }
  SUBCASE("the next epoch comes") {
    ++position.epoch;
    position.batch_in_epoch = 0;
    session.set_position(position);
    CHECK(session.wait_saved(3'600'000));
    CHECK(files_in(folder.path()).size() == 2);
    session.close();
  }
  SUBCASE("somebody waits for it") {
    CHECK(session.wait_saved(3'600'000));
    CHECK(files_in(folder.path()).size() == 2);
    session.close();
  }
  CHECK(files_in(folder.path()) ==
        std::vector<std::string>{"ep0-ba2-rank0.json", "ep0-ba4-rank0.json"});
  const Events last = Events::of_file(folder.path("ep0-ba4-rank0.json"));
  CHECK(last.count("event/epoch", "X") == 1);
  CHECK(last.count("plain", "X") == 1);
}

TEST_CASE("session: nobody has to come for the last cycle of an epoch to be saved") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = cyclic_schedule({.wait = 0, .warmup = 0, .active = 1, .repeat = 0});
  options.flush_ms = 1;
  Session session(options);
  Position position;
  position.epoch_batches = 1;
  session.batch_begin(position);
  ++position.batch, ++position.batch_in_epoch;
  session.batch_end(position);
  while (session.saved_traces().empty()) std::this_thread::yield();
  CHECK(visible_files_in(folder.path()) == std::vector<std::string>{"ep0-ba1-rank0.json"});
}

TEST_CASE("session: a cycle that goes on at the end of an epoch takes what comes behind it") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = [](const Position&) { return Action::active; };
  Session session(options);
  const Marker marker("work");
  Position position;
  position.epoch_batches = 1;
  session.batch_begin(position);
  ++position.batch, ++position.batch_in_epoch;
  session.batch_end(position);
  record_scopes(marker, 5);
  session.close();
  CHECK(Events::of_file(only_trace(session)).count("work", "X") == 5);
}
