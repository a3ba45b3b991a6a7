#include "digest/records.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace traceloom::digest;

namespace {

std::vector<Record> records_of(std::string_view text) {
  std::vector<Record> records;
  while (!text.empty()) read_record(text, records.emplace_back());
  return records;
}

}  // namespace

TEST_CASE("read_record: an event is one record, with the comma before it") {
  const std::vector<Record> records = records_of(
      R"([{"ph":"X","name":"gemm","ts":12.5},{"ph":"X","name":"relu","ts":13,"args":{"a":[1,2]}}])");
  REQUIRE(records.size() == 3);
  CHECK(records[0].form == "[{\"ph\":\"X\",\"name\":\"\1\",\"ts\":\2}");
  CHECK(records[0].texts == std::vector<std::string_view>{"gemm"});
  REQUIRE(records[0].numbers.size() == 1);
  CHECK(records[0].numbers[0].digits == 125);
  CHECK(records[0].numbers[0].places == 1);
  CHECK(records[1].form == ",{\"ph\":\"X\",\"name\":\"\1\",\"ts\":\2,\"args\":{\"a\":\4}}");
  CHECK(records[1].texts == std::vector<std::string_view>{"relu"});
  CHECK(records[1].lists == std::vector<std::vector<std::int64_t>>{{1, 2}});
  CHECK(records[2].form == "]");
}

TEST_CASE("read_record: the values around the list stand in the record of its first event") {
  const std::vector<Record> records =
      records_of(R"({"schemaVersion":1,"traceEvents":[{"ts":1}],"traceName":"a"})");
  REQUIRE(records.size() == 2);
  CHECK(records[0].form == "{\"schemaVersion\":\2,\"traceEvents\":[{\"ts\":\2}");
  CHECK(records[1].form == "],\"traceName\":\"\1\"}");
}

TEST_CASE("read_record: kinds stay in the form, also after white space") {
  const std::vector<Record> records = records_of(R"([{"cat" : "kernel", "s" : "kernel"}])");
  CHECK(records[0].form == "[{\"cat\" : \"kernel\", \"s\" : \"\1\"}");
}

TEST_CASE("read_record: a list with objects is no value, and its objects end records") {
  const std::vector<Record> records = records_of(R"([{"l":[{"a":1}, {"a":2}],"ts":3},{"ts":4}])");
  REQUIRE(records.size() == 5);
  CHECK(records[0].form == "[{\"l\":[{\"a\":\2}");
  CHECK(records[1].form == ", {\"a\":\2}");
  CHECK(records[2].form == "],\"ts\":\2}");
  CHECK(records[3].form == ",{\"ts\":\2}");
  CHECK(records[4].form == "]");
}

TEST_CASE(
    "read_record: a list is one of numbers if all are whole and nothing stands between them") {
  for (const std::string list : {"[1]", "[1, 2]", "[1,2.5]", "[1,\"2\"]", "[[1,2]]", "[1,2,]"}) {
    CAPTURE(list);
    const std::vector<Record> records = records_of("[{\"l\":" + list + "}]");
    CHECK(records[0].form == "[{\"l\":\1}");
    CHECK(records[0].texts.size() == 1);
  }
  const std::string text = "[{\"l\":[-1,0,7]}]";
  CHECK(records_of(text)[0].lists == std::vector<std::vector<std::int64_t>>{{-1, 0, 7}});
}

TEST_CASE("read_record: numbers of many places are multiples of a unit, once it is known") {
  Record record;
  std::vector<std::string> forms;
  for (int i = 0; i < 40; ++i) {
    std::string text = "{\"dur\":";
    append_double((7 * i + 1) * 1.1111111111111112e-3, text);
    std::string_view rest = text;
    read_record(rest, record);
    forms.push_back(record.form);
  }
  CHECK(forms[10] == "{\"dur\":\1");
  CHECK(forms[39] ==
        "{\"dur\":\5"
        "3f523456789abcdf");
  CHECK(record.numbers.at(0).digits == 274);
  CHECK(record.ulps == std::vector<int>{0});
}

TEST_CASE("read_record: a byte that is a mark is a value") {
  const std::vector<Record> records = records_of("\1[{\"a\2b\":1\3}");
  CHECK(records[0].form == "\1[{\"\1\":\2\1}");
  CHECK(records[0].texts == std::vector<std::string_view>{"\1", "a\2b", "\3"});
}

TEST_CASE("read_record: text that ends anywhere") {
  const std::string text = R"([{"name":"a\"b","ts":1.5e3,"n":null,"v":-7},{"name":"open)";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    CAPTURE(size);
    std::string joined;
    for (const Record& record : records_of(std::string_view(text).substr(0, size))) {
      auto value = record.texts.begin();
      auto number = record.numbers.begin();
      for (const char c : record.form) {
        if (c == kTextMark)
          joined += *value++;
        else if (c == kNumberMark)
          append_decimal(*number++, joined);
        else
          joined += c;
      }
    }
    CHECK(joined == text.substr(0, size));
  }
}

TEST_CASE("end_of_records: between two objects, or at the end") {
  CHECK(end_of_records(R"([{"a":1},{"b":2},{"c)") == 16);
  CHECK(end_of_records("[{\"a\":1}\n,\n{\"b\":2") == 8);
  CHECK(end_of_records("no object at all") == 16);
  CHECK(end_of_records(R"({"a":{"b":{"c":1)") == 16);
  CHECK(end_of_records("{{{{") == 4);
}
