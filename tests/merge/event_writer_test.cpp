#include "merge/planning/make_plan.h"
#include "merge/survey/survey_visitor.h"
#include "merge/write/write_visitor.h"
#include "support/print_texts.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace traceloom;

namespace {

// The events and metadata that the writer makes of one file.
struct Written {
  std::vector<std::string> events;
  std::vector<std::string> metadata;
};

struct PlannedFile {
  std::string text;
  std::int64_t rank;
};

// Writes the files' lists; `files` are rank 3 unless they say otherwise.
class Writing {
 public:
  explicit Writing(const std::vector<PlannedFile>& files) {
    std::vector<Input> inputs;
    std::vector<std::string> paths;
    for (const PlannedFile& file : files) {
      texts_.push_back(file.text);
      paths.push_back(folder_.write("f" + std::to_string(paths.size()) + ".json", file.text));
      inputs.push_back({paths.back(), file.rank});
    }
    const FailureHandler fail = [](std::size_t, const Error& error) { throw error; };
    SurveyVisitor visitor(paths.size(), fail);
    scan_files(paths, visitor, {1, {}});
    std::vector<FileSurvey> surveys = visitor.take_surveys();
    const RunInputs capture = settle(inputs, readings_of(surveys));
    plan_ = std::make_unique<MergePlan>(make_plan(inputs, std::move(surveys), capture));
  }

  Written write(std::size_t file = 0) {
    const EventWriter writer(*plan_, file);
    EventScanner scanner;
    const std::size_t list = texts_[file].find('[') + 1;
    scanner.start(std::string_view(texts_[file]).substr(list), list, Position::first, problems_);
    Written written;
    while (const Event* event = scanner.next()) {
      WriteState state;
      writer.write(*event, time_event(*event, state.problems), state);
      REQUIRE_FALSE(state.unplanned);
      problems_.add(state.problems);
      if (!state.block.text.empty()) {
        REQUIRE(state.block.text.view().starts_with(",\n"));
        written.events.emplace_back(state.block.text.view().substr(2));
      }
      CHECK(state.events == (state.block.text.empty() ? 0 : 1));
    }
    for (const KeptMetadata& event : plan_->surveys[file].metadata) {
      WriteState state;
      writer.write_metadata(event, state);
      written.metadata.emplace_back(state.block.text.view().substr(2));
      CHECK(state.events == 0);
    }
    return written;
  }

 private:
  TemporaryFolder folder_;
  std::vector<std::string> texts_;
  std::unique_ptr<MergePlan> plan_;
  ProblemCounts problems_;
};

Written written(const std::string& list) {
  return Writing({{list, 3}}).write();
}

// Returns what becomes of an event after an instant at 10 us, which becomes the time 0.
std::string written_event(const std::string& event) {
  const Written all =
      written(R"([{"ph":"i","ts":10,"pid":1,"tid":7,"name":"first"},)" + event + "]");
  REQUIRE(all.events.size() == 2);
  CHECK(all.events[0] == R"({"ph":"i","ts":0,"pid":3,"tid":7,"name":"first"})");
  return all.events[1];
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("event_writer: changes values in place, in every order of the fields") {
  std::array<std::pair<std::string, std::string>, 5> fields{{
      {R"("dur": 2.5)", R"("dur": 2.5)"},
      {R"("name":"x")", R"("name":"x")"},
      {R"("pid":  1166 )", R"("pid":  3 )"},
      {R"("tid":"abc")", R"("tid":10000000)"},
      {R"("ts" : 12.25)", R"("ts" : 2.25)"},
  }};
  do {
    std::string before = R"([{"ph":"i","name":"a","ts":10,"pid":1166,"tid":7}, {"ph":"X")";
    std::string after = R"({"ph":"X")";
    for (const auto& [in, out] : fields) {
      before += "," + in;
      after += "," + out;
    }
    const Written all = written(before + "}]");
    REQUIRE(all.events.size() == 2);
    CHECK(all.events[1] == after + "}");
  } while (std::next_permutation(fields.begin(), fields.end()));
}

TEST_CASE("event_writer: copies an event of which nothing changes byte by byte") {
  const std::string event =
      R"({ "ph":"X",  "name": "a", "ts": 0.500 , "dur":1.250,"pid": 3,"tid":7,"args":{"a" : [1, 2.50]} })";
  CHECK(written(R"([{"ph":"i","name":"a","ts":0,"pid":3,"tid":7},)" + event + "]").events[1] ==
        event);
}

TEST_CASE("event_writer: puts a missing pid and tid in front") {
  const Written all = written(R"([{"ph":"X","ts":1,"dur":2,"name":"x"}])");
  CHECK(all.events == Texts{R"({"pid": 3, "tid": 10000000, "ph":"X","ts":0,"dur":2,"name":"x"})"});
}

TEST_CASE("event_writer: a counter without a tid stays without one") {
  CHECK(written_event(R"({"ph":"C","ts":11,"pid":1,"name":"m","args":{"v":1}})") ==
        R"({"ph":"C","ts":1,"pid":3,"name":"m","args":{"v":1}})");
}

TEST_CASE("event_writer: times in quotes, with exponents or long tails become plain numbers") {
  CHECK(written_event(R"({"ph":"X","name":"a","ts":"12.730","dur":"5.16","pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":2.73,"dur":5.16,"pid":3,"tid":7})");
  CHECK(written_event(R"({"ph":"X","name":"a","ts":1.5e3,"dur":2E0,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":1490,"dur":2,"pid":3,"tid":7})");
  CHECK(written_event(
            R"({"ph":"X","name":"a","ts":11.0,"dur":0.45599999999999996,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":1,"dur":0.456,"pid":3,"tid":7})");
  // Start and end are rounded, not the duration: 11.0004 + 0.0002 ends at 11.001.
  CHECK(written_event(R"({"ph":"X","name":"a","ts":11.0004,"dur":0.0002,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":1,"dur":0.001,"pid":3,"tid":7})");
}

TEST_CASE("event_writer: a duration that is negative or no number is 0") {
  CHECK(written_event(R"({"ph":"X","name":"a","ts":11,"dur":-4,"pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":1,"dur":0,"pid":3,"tid":7})");
  CHECK(written_event(R"({"ph":"X","name":"a","ts":11,"dur":"abc","pid":1,"tid":7})") ==
        R"({"ph":"X","name":"a","ts":1,"dur":0,"pid":3,"tid":7})");
}

TEST_CASE("event_writer: Kineto's broken negatives are read as what they mean") {
  CHECK(written(R"([{"ph":"X","name":"a","ts":0.-66,"dur":1,"pid":1,"tid":7}])").events ==
        Texts{R"({"ph":"X","name":"a","ts":0.934,"dur":1,"pid":3,"tid":7})"});
}

TEST_CASE("event_writer: an epoch with nanoseconds loses no digit") {
  const Written all =
      written(R"([{"ph":"X","name":"a","ts":1712195495406752.812,"dur":1,"pid":1,"tid":7},
                                  {"ph":"X","name":"a","ts":1712195495406752.813,"dur":1,"pid":1,"tid":7}])");
  CHECK(all.events == Texts{R"({"ph":"X","name":"a","ts":0.812,"dur":1,"pid":3,"tid":7})",
                            R"({"ph":"X","name":"a","ts":0.813,"dur":1,"pid":3,"tid":7})"});
}

TEST_CASE("event_writer: leaves out what has no usable time or no phase") {
  CHECK(
      written(
          R"([{"ph":"X","name":"a","dur":1,"pid":1,"tid":7},{"ph":"X","name":"a","ts":null,"pid":1,"tid":7},
                    {"ph":"X","name":"a","ts":"abc","pid":1,"tid":7},{"ts":1,"pid":1,"tid":7}])")
          .events.empty());
}

TEST_CASE("event_writer: flow ids are numbers, of their own in every file") {
  const std::string list = R"([{"ph":"s","name":"a","cat":"c","id":7,"ts":1,"pid":1,"tid":7},
                               {"ph":"t","name":"a","cat":"c","id":"0x7","ts":1,"pid":1,"tid":7},
                               {"ph":"f","name":"a","cat":"c","bp":"e","id":"7","ts":1,"pid":1,"tid":7}])";
  Writing writing({{list, 0}, {list, 1}});
  CHECK(writing.write(0).events ==
        Texts{R"({"ph":"s","name":"a","cat":"c","id":7,"ts":0,"pid":0,"tid":7})",
              R"({"ph":"t","name":"a","cat":"c","id":9,"ts":0,"pid":0,"tid":7})",
              R"({"ph":"f","name":"a","cat":"c","bp":"e","id":8,"ts":0,"pid":0,"tid":7})"});
  CHECK(writing.write(1).events ==
        Texts{R"({"ph":"s","name":"a","cat":"c","id":17,"ts":0,"pid":1,"tid":7})",
              R"({"ph":"t","name":"a","cat":"c","id":19,"ts":0,"pid":1,"tid":7})",
              R"({"ph":"f","name":"a","cat":"c","bp":"e","id":18,"ts":0,"pid":1,"tid":7})"});
}

TEST_CASE("event_writer: bind ids lie above the numbers that Perfetto gives to flows") {
  const std::string list =
      R"([{"ph":"X","name":"a","ts":1,"dur":1,"bind_id":"0x5","flow_out":true,"pid":1,"tid":7},
          {"ph":"X","name":"a","ts":1,"dur":1,"bind_id":2,"flow_in":true,"pid":1,"tid":7}])";
  Writing writing({{list, 0}, {list, 1}});
  CHECK(
      writing.write(0).events ==
      Texts{
          R"({"ph":"X","name":"a","ts":0,"dur":1,"bind_id":549755813897,"flow_out":true,"pid":0,"tid":7})",
          R"({"ph":"X","name":"a","ts":0,"dur":1,"bind_id":549755813890,"flow_in":true,"pid":0,"tid":7})"});
  CHECK(
      writing.write(1).events ==
      Texts{
          R"({"ph":"X","name":"a","ts":0,"dur":1,"bind_id":549755813907,"flow_out":true,"pid":1,"tid":7})",
          R"({"ph":"X","name":"a","ts":0,"dur":1,"bind_id":549755813900,"flow_in":true,"pid":1,"tid":7})"});
}

TEST_CASE("event_writer: async ids become local to the process, of their own in every file") {
  const std::string list = R"([{"ph":"b","name":"a","cat":"x","id": 1,"ts":1,"pid":1,"tid":7},
                               {"ph":"e","name":"a","cat":"x","ts":1,"id" : "0x1","pid":1,"tid":7},
                               {"ph":"n","name":"a","cat":"x","id2":{"global":"0x2"},"ts":1,"pid":1,"tid":7},
                               {"ph":"S","name":"a","cat":"x","id2":{"local":"0x1"},"ts":1,"pid":1,"tid":7},
                               {"ph":"F","name":"a","cat":"x","id2":{"local":"0x1"},"ts":1,"pid":2,"tid":7}])";
  Writing writing({{list, 0}, {list, 1}});
  const Texts first = writing.write(0).events;
  REQUIRE(first.size() == 5);
  CHECK(first[0] ==
        R"({"ph":"b","name":"a","cat":"x","id2": {"local": "0x1"},"ts":0,"pid":0,"tid":7})");
  CHECK(first[1] ==
        R"({"ph":"e","name":"a","cat":"x","ts":0,"id2" : {"local": "0x9"},"pid":0,"tid":7})");
  CHECK(first[2] ==
        R"({"ph":"n","name":"a","cat":"x","id2":{"local": "0x8"},"ts":0,"pid":0,"tid":7})");
  CHECK(first[3] ==
        R"({"ph":"b","name":"a","cat":"x","id2":{"local": "0x7"},"ts":0,"pid":0,"tid":7})");
  CHECK(first[4] ==
        R"({"ph":"e","name":"a","cat":"x","id2":{"local": "0x6"},"ts":0,"pid":0,"tid":10000000})");
  CHECK(writing.write(1).events[0] ==
        R"({"ph":"b","name":"a","cat":"x","id2": {"local": "0xb"},"ts":0,"pid":1,"tid":7})");
}

TEST_CASE("event_writer: of id and id2 in one event the id counts") {
  CHECK(written_event(
            R"({"ph":"b","name":"a","id":5,"id2":{"local":"0x9"},"ts":10,"pid":1,"tid":7})") ==
        R"({"ph":"b","name":"a","source_id":5,"id2":{"local": "0x5"},"ts":0,"pid":3,"tid":7})");
  CHECK(written_event(R"({"ph":"b","name":"a","id2":{},"id":"a","ts":10,"pid":1,"tid":7})") ==
        R"({"ph":"b","name":"a","id2":{"local": "0x1"},"source_id":"a","ts":0,"pid":3,"tid":7})");
}

TEST_CASE("event_writer: a global instant of one of many ranks is one of its process") {
  const std::string list = R"([{"ph":"i","name":"a","ts":1,"s":"g","pid":1,"tid":7}])";
  CHECK(written(list).events == Texts{R"({"ph":"i","name":"a","ts":0,"s":"g","pid":3,"tid":7})"});
  CHECK(Writing({{list, 0}, {list, 1}}).write(1).events ==
        Texts{R"({"ph":"i","name":"a","ts":0,"s":"p","pid":1,"tid":7})"});
  const std::string old = R"([{"ph":"I","name":"a","ts":1,"s":"g","pid":1,"tid":7}])";
  CHECK(Writing({{old, 0}, {old, 1}}).write(1).events ==
        Texts{R"({"ph":"I","name":"a","ts":0,"s":"p","pid":1,"tid":7})"});
}

TEST_CASE("event_writer: clock syncs, which have done their work, become instants") {
  const std::string list =
      R"([{"ph":"c","ts":1,"pid":1,"tid":7,"name":"clock_sync","args":{"sync_id":"A"}}])";
  CHECK(
      written(list).events ==
      Texts{
          R"({"s": "p", "ph":"i","ts":0,"pid":3,"tid":7,"name":"clock_sync","args":{"sync_id":"A"}})"});
  CHECK(
      Writing({{list, 0}, {list, 1}}).write(1).events ==
      Texts{
          R"({"s": "p", "ph":"i","ts":0,"pid":1,"tid":7,"name":"clock_sync","args":{"sync_id":"A"}})"});
}

TEST_CASE("event_writer: keeps metadata of other tools at time 0, drops what the merge writes") {
  const Written all = written(
      R"([{"ph":"M","name":"num_cpus","ts":99,"pid":1,"tid":7,"args":{"number":8}},
          {"ph":"M","name":"overhead","pid":1,"args":{}},
          {"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}},
          {"ph":"M","name":"process_labels","pid":1,"args":{"labels":"a"}},
          {"ph":"M","name":"process_sort_index","pid":1,"args":{"sort_index":1}},
          {"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"a"}},
          {"ph":"M","name":"thread_sort_index","pid":1,"tid":7,"args":{"sort_index":1}},
          {"ph":"M","name":"global_rank","pid":1,"tid":7,"args":{"value":3}},
          {"ph":"M","name":"clock_sync_timestamp_us","pid":1,"tid":7,"args":{"value":3}},
          {"ph":"M","name":"clock_sync_error_bound","pid":1,"tid":7,"args":{"value":3}},
          {"ph":"i","name":"a","ts":5,"pid":1,"tid":7}])");
  CHECK(all.metadata ==
        Texts{R"({"ph":"M","name":"num_cpus","ts":0,"pid":3,"tid":7,"args":{"number":8}})",
              R"({"tid": 7, "ph":"M","name":"overhead","pid":3,"args":{}})"});
  CHECK(all.events == Texts{R"({"ph":"i","name":"a","ts":0,"pid":3,"tid":7})"});
}

TEST_CASE("event_writer: what is no strict JSON is repaired and edited as well") {
  CHECK(written_event("{\"ph\":\"X\",\"ts\":11,\"dur\":1,\"pid\":1,\"tid\":7,"
                      "\"name\":\"a\tb\",\"args\":{\"v\":NaN}}") ==
        R"({"ph":"X","ts":1,"dur":1,"pid":3,"tid":7,"name":"a\tb","args":{"v":"NaN"}})");
}

TEST_CASE("event_writer: knows pids, tids and ids that have to be repaired") {
  const Written all = written(
      "[{\"ph\":\"s\",\"name\":\"a\",\"cat\":\"c\",\"ts\":1,\"pid\":\"P\t1\",\"tid\":\"T\xff\","
      "\"id\":\"a\t\"},"
      "{\"ph\":\"s\",\"name\":\"a\",\"cat\":\"c\",\"ts\":1,\"pid\":\"P\t1\",\"tid\":\"T\t2\","
      "\"id\":\"b\t\"},"
      "{\"ph\":\"b\",\"name\":\"a\",\"ts\":1,\"pid\":\"P\t1\",\"tid\":\"T\t2\",\"id\":\"\\q\"},"
      "{\"ph\":\"b\",\"name\":\"a\",\"ts\":1,\"pid\":\"P\t1\",\"tid\":\"T\t2\",\"id\":\"\\r\t\"}]");
  CHECK(all.events ==
        Texts{R"({"ph":"s","name":"a","cat":"c","ts":0,"pid":3,"tid":10000001,"id":2})",
              R"({"ph":"s","name":"a","cat":"c","ts":0,"pid":3,"tid":10000000,"id":1})",
              R"({"ph":"b","name":"a","ts":0,"pid":3,"tid":10000000,"id2":{"local": "0x2"}})",
              R"({"ph":"b","name":"a","ts":0,"pid":3,"tid":10000000,"id2":{"local": "0x1"}})"});
}

TEST_CASE("event_writer: a key that stands twice or is escaped is written once, plainly") {
  CHECK(written_event(R"({"ph":"i","name":"a","ts":1,"pid":9,"\u0070id":1,"tid":7,"ts":12})") ==
        R"({"ph":"i","name":"a","pid":3,"tid":7,"ts":2})");
}
