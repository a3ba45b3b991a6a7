#include "identity/evidence/event_marks.h"
#include "identity/survey_text.h"

#include <doctest/doctest.h>

#include <limits>

using namespace traceloom;

namespace {

SyncMarks marks_of(const std::string& events) {
  return evidence_of(events).sync_marks;
}

// "id@moment+-error" of each.
std::vector<std::string> shown(const SyncMarks& marks) {
  std::vector<std::string> words;
  for (const SyncEvent& event : marks.events())
    words.push_back(event.id + "@" + std::to_string(event.moment_ns) + "+-" +
                    std::to_string(event.error_ns));
  return words;
}

std::string c(const std::string& ts, const std::string& args) {
  return R"({"ph": "c", "name": "clock_sync", "ts": )" + ts + R"(, "args": )" + args + "}";
}

std::string legacy(const std::string& phase, const std::string& ts, const std::string& id) {
  return R"({"ph": ")" + phase + R"(", "name": "ClockSyncEvent.)" + id + R"(", "id": 1, "ts": )" +
         ts + "}";
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("sync_marks: a moment is when it was stamped, or half way between question and answer") {
  CHECK(shown(marks_of(c("10.5", R"({"sync_id": "b"})") + "," +
                       c("12", R"({"sync_id": 7, "issue_ts": 9.001})"))) ==
        Words{R"("b"@10500+-0)", "7@10500+-2999"});
}

TEST_CASE("sync_marks: the shortest of several marks counts, in any part of the file") {
  SyncMarks marks = marks_of(c("10", R"({"sync_id": "a", "issue_ts": 6})") + "," +
                             c("20", R"({"sync_id": "a", "issue_ts": 18})"));
  marks.add(marks_of(c("90", R"({"sync_id": "a", "issue_ts": 88})")));
  marks.add(marks_of(c("91", R"({"sync_id": "7"})")));
  marks.add(marks_of(c("92", R"({"sync_id": 7})")));
  CHECK(shown(marks) == Words{R"("a"@19000+-2000)", "7@91000+-0"});
}

TEST_CASE("sync_marks: the legacy pair is a question and an answer") {
  SyncMarks marks = marks_of(legacy("S", "10", "x"));
  CHECK(shown(marks).empty());
  marks.add(marks_of(legacy("F", "14", "x") + "," + legacy("F", "99", "x")));
  CHECK(shown(marks) == Words{R"("x"@12000+-4000)"});
  marks.add(marks_of(c("11", R"({"sync_id": "x", "issue_ts": 10})")));
  CHECK(shown(marks) == Words{R"("x"@10500+-1000)"});
}

TEST_CASE("sync_marks: what is no mark is none") {
  CHECK(shown(marks_of(c("10", "{}") + "," + c("null", R"({"sync_id": "a"})") + "," +
                       R"({"ph": "S", "name": "Clock", "id": 1, "ts": 5})" + "," +
                       R"({"ph": "i", "name": "c", "ts": 5, "args": {"sync_id": "a"}})"))
            .empty());
  CHECK(shown(marks_of(c("10", R"({"sync_id": "a", "issue_ts": 11})"))).empty());
}
