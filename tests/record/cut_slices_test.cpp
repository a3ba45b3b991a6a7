// These tests record a long-running marker over a save: a slice that two files show, and one file
// has as a whole.
#include "record/recorded.h"

using namespace traceloom;
using namespace traceloom::record;

namespace {

MarkerOptions long_running() {
  MarkerOptions options;
  options.long_running = true;
  return options;
}

// Returns the value of "cut_id".
std::string cut_id(const std::string& event) {
  constexpr std::string_view kKey = "\"cut_id\":\"";
  const std::size_t at = event.find(kKey);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + kKey.size();
  return event.substr(begin, event.find('"', begin) - begin);
}

}  // namespace

TEST_CASE("session: a long-running marker that a save cuts is closed there, and whole later") {
  const TemporaryFolder folder;
  Options options = options_for(folder);
  options.schedule = [](const Position& at) {
    return at.batch < 3 ? Action::active_and_save : Action::skip;
  };
  Session session(options);
  const Marker outer("outer", "", long_running());
  const Marker inner("inner", "", long_running());
  const Marker short_one("short", "", long_running());
  Position position;
  run_batch(session, position, [&] {
    outer.start();
    inner.start();
    outer.start();  // within itself
    short_one.call([] {});
  });
  run_batch(session, position, [&] { short_one.call([] {}); });
  run_batch(session, position, [&] {
    outer.finish();
    inner.finish();
    outer.finish();
  });
  session.close();
  const Events first = Events::of_file(folder.path("ep0-ba1-rank0.json"));
  const Events second = Events::of_file(folder.path("ep0-ba2-rank0.json"));
  const Events third = Events::of_file(folder.path("ep0-ba3-rank0.json"));
  CHECK(first.count("outer", "B") == 2);
  CHECK(first.count("inner", "B") == 1);
  // The inner one of two ends first.
  const Events cut = first.with("\"cut_id\":");
  REQUIRE(cut.size() == 3);
  CHECK(cut.of("outer", "E").size() == 2);
  CHECK(cut.of("inner", "E").size() == 1);
  CHECK(first.count("short", "E") == 1);
  CHECK(second.with("\"cut_id\":").size() == 0);
  CHECK(second.count("short", "B") == 1);
  CHECK(second.count("outer", "E") + second.count("outer", "X") == 0);
  const Events whole = third.with("\"cut_id\":");
  CHECK(whole.size() == 3);
  CHECK(third.count("outer", "X") == 2);
  CHECK(third.count("inner", "X") == 1);
  CHECK(cut_id(third.of("inner", "X")[0]) == cut_id(cut.of("inner", "E")[0]));
  CHECK(cut_id(third.of("outer", "X")[0]) == cut_id(cut.of("outer", "E")[0]));
  CHECK(cut_id(third.of("outer", "X")[1]) == cut_id(cut.of("outer", "E")[1]));
  CHECK(cut_id(cut.of("outer", "E")[0]) != cut_id(cut.of("outer", "E")[1]));
  // The counts are of what the program has recorded.
  const std::vector<SavedTrace> saved = session.saved_traces();
  REQUIRE(saved.size() == 3);
  CHECK(saved[0].events == 5);
  CHECK(saved[1].events == 2);
  CHECK(saved[2].events == 3);
}
