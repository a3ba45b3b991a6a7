#include "select/selection.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

using namespace traceloom;

namespace {

const std::vector<StepStart> kStarts{{300, 5}, {100, 3}, {200, 4}};

// "[from,to)" of each; the ends of time as nothing.
std::string windows(std::string_view selection, const std::vector<StepStart>& starts = kStarts) {
  std::string text;
  for (const TimeWindow& window : StepSelection::parse(selection).value().windows_of(starts))
    text += fmt::format(
        "[{},{})", window.from_ns == TimeWindow{}.from_ns ? "" : std::to_string(window.from_ns),
        window.to_ns == TimeWindow{}.to_ns ? "" : std::to_string(window.to_ns));
  return text;
}

}  // namespace

TEST_CASE("step_selection: both ends belong to it, and either may be absent") {
  const StepSelection both = StepSelection::parse("3:5").value();
  for (const std::int64_t number : {3, 4, 5}) CHECK(both.contains(number));
  CHECK_FALSE(both.contains(2));
  CHECK_FALSE(both.contains(6));
  CHECK(StepSelection::parse(":5").value().contains(0));
  CHECK_FALSE(StepSelection::parse(":5").value().contains(6));
  CHECK(StepSelection::parse("5:").value().contains(6));
  CHECK(StepSelection::parse("7").value().contains(7));
  CHECK_FALSE(StepSelection::parse("7").value().contains(8));
  CHECK(StepSelection::parse(":").value().contains(0));
}

TEST_CASE("step_selection: anything else is refused") {
  for (const char* text : {"", "a", "5:3", "-1:2", "1:2:3", "3-5", "1s:2s", "#3"}) {
    CAPTURE(text);
    CHECK_FALSE(StepSelection::parse(text).has_value());
  }
}

TEST_CASE("step_selection: a step lasts until the next one begins, the last one to the end") {
  CHECK(windows("4") == "[200,300)");
  CHECK(windows("3:4") == "[100,300)");
  CHECK(windows("5") == "[300,)");
  CHECK(windows("4:") == "[200,)");
  CHECK(windows(":3") == "[,200)");
  CHECK(windows(":2") == "[,100)");
  CHECK(windows(":") == "[,)");
  CHECK(windows("6:9").empty());
}

TEST_CASE("step_selection: numbers that are not there, or come twice, are no problem") {
  const std::vector<StepStart> twice{{100, 3}, {200, 9}, {500, 3}, {600, 9}};
  CHECK(windows("3", twice) == "[100,200)[500,600)");
  CHECK(windows("4:9", twice) == "[200,500)[600,)");
  CHECK(windows("4:8", twice).empty());
  CHECK(windows("1:", {}).empty());
  CHECK(windows(":1", {}) == "[,)");
}
