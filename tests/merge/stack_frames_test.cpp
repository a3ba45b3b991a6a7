#include "merge/facts/ids.h"
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

std::string renamed(const FrameIds& ids, std::string_view json_id, std::string_view pid = {}) {
  std::string text;
  ids.append_to(text, json_id, pid);
  return text;
}

std::string renamed_frame(const FrameIds& ids, std::string_view id, std::string_view frame) {
  std::string text;
  append_frame(text, id, frame, ids);
  return text;
}

}  // namespace

TEST_CASE("stack_frames: an id gets the number of its file, and of its process") {
  const FrameIds third{2, false};
  CHECK(renamed(third, "7") == R"("f2_7")");
  CHECK(renamed(third, "\"7\"") == R"("f2_7")");
  CHECK(renamed(third, R"("a\"\u00e9")") == "\"f2_a\\\"\xc3\xa9\"");
  CHECK(renamed(third, "7", "1166") == R"("f2_1166_7")");
  CHECK(renamed(third, "7", "\"Spans\"") == R"("f2_Spans_7")");
  CHECK(renamed(third, "\"f0_7\"") == R"("f2_f0_7")");
}

TEST_CASE("stack_frames: ids of an earlier merge keep their distance") {
  const FrameIds merged{3, true};
  CHECK(renamed(merged, "\"f0_7\"") == R"("f3_7")");
  CHECK(renamed(merged, "\"f12_1166_7\"", "0") == R"("f15_1166_7")");
  CHECK(renamed(merged, "7") == R"("f3_7")");
  CHECK(renamed({0, true}, "\"f1_f0_7\"") == R"("f1_f0_7")");
}

TEST_CASE("stack_frames: the group is what stands before the first bar") {
  CHECK(frame_group("\"f12_7\"") == 12);
  CHECK(frame_group("\"f0_\"") == 0);
  CHECK_FALSE(frame_group("\"f12\"").has_value());
  CHECK_FALSE(frame_group("\"x12_7\"").has_value());
  CHECK_FALSE(frame_group("7").has_value());
  CHECK_FALSE(frame_group("\"f999999999_7\"").has_value());
}

TEST_CASE("stack_frames: parents follow, all else stays") {
  CHECK(renamed_frame({1, false}, "8", R"({"name":"f", "parent" : 7,"x":{"parent":7}})") ==
        R"("f1_8":{"name":"f","parent":"f1_7","x":{"parent":7}})");
  CHECK(renamed_frame({1, false}, "8", R"({"parent":null})") == R"("f1_8":{"parent":null})");
  CHECK(renamed_frame({1, false}, "8", "{}") == R"("f1_8":{})");
}

TEST_CASE("stack_frames: a dictionary of frames is an object of objects") {
  CHECK(is_frame_dictionary("{}"));
  CHECK(is_frame_dictionary(R"({"1":{},"2":{"name":"f"}})"));
  CHECK_FALSE(is_frame_dictionary(R"({"1":{},"2":"f"})"));
  CHECK_FALSE(is_frame_dictionary("[]"));
}

TEST_CASE("stack_frames: frames and types of processes stay apart, and heap dumps find them") {
  const std::string text =
      R"([{"ph":"M","name":"stackFrames","pid":1,"args":{"stackFrames":{"1":{"name":"m"}}}},)"
      R"({"ph":"M","name":"stackFrames","pid":2,"args":{"stackFrames":{"1":{"name":"n"}}}},)"
      R"({"ph":"M","name":"typeNames","pid":1,"args":{"typeNames":{"0":"int"}}},)"
      R"({"ph":"M","name":"typeNames","pid":2,"args":{"typeNames":{}}},)"
      R"({"ph":"M","name":"typeNames","pid":2,"args":{"typeNames":{"0":"char"}}},)"
      R"({"ph":"v","name":"a","id":"0x1","ts":0,"pid":2,"tid":7,"args":{"dumps":{"heaps":{"malloc":{)"
      R"("entries":[{"bt":"1","type":"0","size":"10"},{"bt":"","size":"20"}]}}}}}])";
  const MergedCase merged(NamedTexts{{"rank0.json", text}, {"rank1.json", text}});
  const auto event = [](const char* name, const char* values, int rank) {
    return fmt::format(R"({{"tid": 7, "ph":"M","name":"{0}","pid":{2},"args":{{"{0}":{1}}}}})",
                       name, values, rank);
  };
  CHECK(merged.metadata() == Texts{event("stackFrames", R"({"f0_1_1":{"name":"m"}})", 0),
                                   event("stackFrames", R"({"f0_2_1":{"name":"n"}})", 0),
                                   event("stackFrames", R"({"f1_1_1":{"name":"m"}})", 1),
                                   event("stackFrames", R"({"f1_2_1":{"name":"n"}})", 1),
                                   event("typeNames", R"({"f0_1_0":"int","f0_2_0":"char"})", 0),
                                   event("typeNames", R"({"f1_1_0":"int","f1_2_0":"char"})", 1)});
  CHECK(
      merged.events()[1] ==
      R"({"ph":"v","name":"a","id":"0x13","ts":0,"pid":1,"tid":7,"args":{"dumps":{"heaps":{"malloc":{)"
      R"("entries":[{"bt":"f1_2_1","type":"f1_2_0","size":"10"},{"bt":"","size":"20"}]}}}}})");
  const MergedCase again(NamedTexts{{"merged.json", merged.text()}});
  CHECK(without_other_data(again.text()) == without_other_data(merged.text()));
  // With another file after it, the groups go on.
  PlanOptions options;
  options.clock.align_by = AlignBy::none;
  const MergedCase more(NamedTexts{{"merged.json", merged.text()}, {"rank2.json", text}}, options);
  CHECK(more.metadata()[4] == event("stackFrames", R"({"f2_1_1":{"name":"m"}})", 2));
}
