// What ends behind the last cycle, and files that come with the name of one before.
#include "record/recorded.h"

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
