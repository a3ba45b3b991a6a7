// These are the cases of the reference on the format, by their numbers there: the text around the
// events, cut and empty files, gzip, and what is no trace.
#include "base/json_string.h"
#include "base/problems.h"
#include "support/gzip_text.h"
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

using namespace traceloom;
using namespace std::string_literals;

namespace {

const std::string kFirst = R"({"ph":"i","ts":1,"pid":1,"tid":7,"name":"first"})";
const std::string kSecond = R"({"ph":"i","ts":3,"pid":1,"tid":7,"name":"second"})";
const std::string kFirstOut = R"({"ph":"i","ts":0,"pid":0,"tid":7,"name":"first"})";
const std::string kSecondOut = R"({"ph":"i","ts":2,"pid":0,"tid":7,"name":"second"})";
const Texts kBoth{kFirstOut, kSecondOut};
const std::string kList = "[" + kFirst + "," + kSecond + "]";

// Returns, for example, "missing_bracket 1 at 99".
std::string at(std::string_view kind, std::size_t offset) {
  return fmt::format("{} 1 at {}", kind, offset);
}

std::string_view told(const MergedCase& merged, Problem problem) {
  return merged.summary().files[0].problems.explanation(problem);
}

// Returns why a merge refuses the text; it writes nothing then.
std::string refusal(const std::string& text) {
  const TemporaryFolder folder;
  const MergeOptions options = merge_options(folder, {{"rank0.json", text}}, "merged.json");
  try {
    merge_traces(options);
  } catch (const Error& error) {
    CHECK(error.path() == folder.path("rank0.json"));
    CHECK(folder.entry_count() == 1);
    return std::string(error.what()).substr(error.path().size() + 2);
  }
  return "accepted";
}

}  // namespace

TEST_CASE("format case 1: a list without its bracket is whole") {
  for (const std::string end : {"", ",", "\n", ",\n", " , \r\n"}) {
    CAPTURE(end);
    const std::string text = "[\n" + kFirst + ",\n" + kSecond + end;
    const MergedCase merged(text);
    CHECK(merged.events() == kBoth);
    CHECK(merged.problems() == Texts{at("missing_bracket", text.size())});
  }
  CHECK(describe(Problem::missing_bracket).severity == Severity::info);
}

TEST_CASE("format case 2: of a list that is cut inside an event the whole events are kept") {
  const std::string whole = "[" + kFirst + ",";
  for (std::size_t kept = 1; kept < kSecond.size(); ++kept) {
    CAPTURE(kept);
    const MergedCase merged(whole + kSecond.substr(0, kept));
    CHECK(merged.events() == Texts{kFirstOut});
    CHECK(merged.problems() == Texts{at("cut_event", whole.size())});
    CHECK(told(merged, Problem::cut_event) ==
          (kept == 1 ? "1 byte is lost" : fmt::format("{} bytes are lost", kept)));
  }
  CHECK(describe(Problem::cut_event).severity == Severity::loss);
}

TEST_CASE("format case 3: an object that is cut may have lost keys behind its events") {
  const std::string text = R"({"schemaVersion":1,"traceEvents":[)" + kFirst;
  const MergedCase inside(text + ",{\"ph\":\"i\",");
  CHECK(inside.events() == Texts{kFirstOut});
  CHECK(inside.value("schemaVersion") == "1");
  CHECK(inside.problems() ==
        Texts{at("cut_event", text.size() + 1), at("cut_object", text.size() + 11)});
  CHECK(told(inside, Problem::cut_event) == "10 bytes are lost");
  for (const std::string end :
       {"", ",", "]", R"(],"baseTimeNano)", R"(],"baseTimeNanoseconds":17)"}) {
    CAPTURE(end);
    const MergedCase between(text + end);
    CHECK(between.events() == Texts{kFirstOut});
    CHECK(between.problems() == Texts{at("cut_object", text.size() + end.size())});
    CHECK(between.summary().files[0].clock.method == ClockMethod::none);
  }
}

TEST_CASE("format case 3: a base time that was cut off is found again by another rank's") {
  const std::string events = R"({"schemaVersion":1,"traceEvents":[)" + kFirst;
  const std::string base = R"(,"baseTimeNanoseconds":1782967788000000000})";
  const MergedCase merged(
      {{"rank0.json", events + "]" + base}, {"rank1.json", events + R"(],"baseTimeNano)"}});
  CHECK(merged.value("baseTimeNanoseconds") == "1782967788000001000");
  CHECK(merged.events() == Texts{kFirstOut, R"({"ph":"i","ts":0,"pid":1,"tid":7,"name":"first"})"});
  CHECK(merged.summary().files[1].clock.method == ClockMethod::base);
  CHECK(merged.problems(0).empty());
  CHECK(merged.problems(1) == Texts{at("cut_object", events.size() + 15), "base_restored 1 at 0"});
}

TEST_CASE("format case 4: a comma or an empty object behind the last event goes") {
  const std::string events = R"({"traceEvents":[)" + kFirst + "," + kSecond + ",";
  const MergedCase comma(events + "]}");
  CHECK(comma.events() == kBoth);
  CHECK(comma.problems() == Texts{at("trailing_comma", events.size())});
  CHECK(is_strict_json(comma.text()));
  const MergedCase jax(events + "{}]}");
  CHECK(jax.events() == kBoth);
  CHECK(jax.problems() == Texts{at("empty_object", events.size())});
  CHECK(is_strict_json(jax.text()));
}

TEST_CASE("format case 6: a file of nothing is refused, a trace of nothing is not") {
  CHECK(refusal("") == "the file is empty");
  CHECK(refusal(" \n\t\r\n") == "byte 5: the file holds nothing but white space");
  CHECK(refusal("{}") == "not a trace: no traceEvents in the object");
  CHECK(refusal(R"({"displayTimeUnit":"ms"})") ==
        R"(not a trace: no traceEvents in the object, whose keys are "displayTimeUnit")");
  CHECK(refusal("{") == "byte 1: the file is cut before its events begin");
  for (const std::string text : {"[]", " [ ]\n", R"({"traceEvents":[]})"}) {
    CAPTURE(text);
    const MergedCase merged(text);
    CHECK(merged.events().empty());
    CHECK(merged.problems() == Texts{"empty_trace 1 at 0"});
    CHECK(merged.summary().processes.size() == 1);
  }
  CHECK(MergedCase("["s).problems() == Texts{"missing_bracket 1 at 1", "empty_trace 1 at 0"});
}

TEST_CASE("format case 7: a byte order mark is left out, UTF-16 is refused") {
  const MergedCase marked("\xef\xbb\xbf" + kList);
  CHECK(marked.events() == kBoth);
  CHECK(marked.problems().empty());
  CHECK(marked.text().starts_with("{\""));
  const std::string utf16 = "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)";
  CHECK(refusal("\xff\xfe[\0{\0}\0]\0"s) == utf16);
  CHECK(refusal("\xfe\xff\0[\0{\0}\0]"s) == utf16);
}

TEST_CASE("format case 51: gzip is told by its content, its members are one text") {
  const std::size_t middle = kList.size() / 2;
  const std::string members = gzip(kList.substr(0, middle)) + gzip("") + gzip(kList.substr(middle));
  for (const std::string& data : {gzip(kList), members, members + std::string(512, '\0')}) {
    for (const std::string name : {"rank0.json.gz", "rank0.json"}) {
      const MergedCase merged(NamedTexts{{name, data}});
      CHECK(merged.events() == kBoth);
      CHECK(merged.problems().empty());
    }
  }
  CHECK(MergedCase(NamedTexts{{"rank0.json.gz", kList}}).events() == kBoth);
  const MergedCase twice(gzip(gzip(kList)));
  CHECK(twice.events() == kBoth);
  CHECK(twice.problems() == Texts{"packed_twice 1 at 0"});
}

TEST_CASE("format case 51: damaged gzip gives what can be unpacked, and a word") {
  const std::string whole = gzip(kList);
  const MergedCase garbage(whole + "garbage");
  CHECK(garbage.events() == kBoth);
  CHECK(garbage.problems() == Texts{at("gzip_trailing_garbage", kList.size())});
  for (const std::size_t behind : {8U, 4U}) {  // the checksum, the size
    std::string wrong = whole;
    wrong[whole.size() - behind] ^= 1;
    const MergedCase merged(wrong);
    CHECK(merged.events() == kBoth);
    CHECK(merged.problems() == Texts{at("gzip_checksum", kList.size())});
  }
  // This gzip is not compressed at all, so that the meaning of each byte is known: 15 bytes stand
  // before the text.
  const std::size_t cut = kList.size() - 10;
  const MergedCase cut_off(gzip(kList, 0).substr(0, 15 + cut));
  CHECK(cut_off.events() == Texts{kFirstOut});
  CHECK(cut_off.problems() == Texts{at("cut_event", kFirst.size() + 2), at("gzip_cut", cut)});
  // A second member whose first block is of a kind that does not exist.
  const std::string broken = whole.substr(0, 10) + "\x07" + std::string(20, 'x');
  const MergedCase damaged(gzip(kList.substr(0, cut)) + broken);
  CHECK(damaged.events() == Texts{kFirstOut});
  CHECK(damaged.problems() == Texts{at("cut_event", kFirst.size() + 2), at("gzip_damaged", cut)});
}

TEST_CASE("format case 52: documents one behind the other are one file, JSON lines are none") {
  const std::string first = "[" + kFirst + "]";
  const std::string second = "[" + kSecond + "]";
  const std::string object = R"({"traceEvents":)" + second + "}";
  for (const std::string& text : {first + second, first + "\n" + second + "\n", first + object}) {
    CAPTURE(text);
    const MergedCase merged(text);
    CHECK(merged.events() == kBoth);
    CHECK(merged.problems() ==
          Texts{at("second_document", text.find_first_of("[{", first.size()))});
    CHECK(merged.summary().processes.size() == 1);
  }
  // Two members of gzip are read in the same way.
  CHECK(MergedCase(gzip(first) + gzip(second)).problems() ==
        Texts{at("second_document", first.size())});
  CHECK(refusal(kFirst + "\n" + kSecond + "\n") ==
        fmt::format("byte {}: not a trace: looks like JSON lines, one object after the other; put "
                    "the lines into one list: [ ..., ... ]",
                    kFirst.size() + 1));
}

TEST_CASE("format case 53: what is no trace is refused by its name") {
  CHECK(refusal("<!DOCTYPE html><html>trace2html</html>") ==
        "is HTML or XML (a saved error page?); save the trace itself");
  CHECK(refusal("PK\3\4rest") == "is a zip archive; unpack it first (unzip)");
  CHECK(refusal("# tracer: nop\n#\n  <idle>-0 [000] d..1 1.0: sched_switch\n") ==
        "is ftrace text; Chrome JSON traces are needed");
  CHECK(refusal("\n\x10\x08\x01\x12\x0c"s + "abcdefghijkl") ==
        "is a binary Perfetto trace; convert it to JSON first (traceconv json)");
  CHECK(refusal(R"({"rocprofiler-sdk-tool":[{"metadata":{}}]})") ==
        R"(not a trace: no traceEvents in the object, whose keys are "rocprofiler-sdk-tool")");
  CHECK(refusal(R"([{"kernel":"gemm","mean_us":12.5},{"kernel":"copy","mean_us":3}])") ==
        "not a trace: nothing in the list has a phase (ph), as events have");
  CHECK(refusal("[1,2,3]") ==
        "byte 1: not a trace: what stands in the event list are no objects, as events are");
  CHECK(refusal("rank 0: loss 0.1\n") ==
        "byte 0: not a trace: the text is not JSON; a trace starts with [ or {");
}

TEST_CASE(
    "format case 53: beside traces it stops the merge, or is left out when that is asked for") {
  const NamedTexts files{{"rank0.json", kList}, {"rank1.json", R"([{"kernel":"gemm"}])"}};
  const std::string why = "not a trace: nothing in the list has a phase (ph), as events have";
  const TemporaryFolder folder;
  const MergeOptions options = merge_options(folder, files, "merged.json");
  CHECK_THROWS_WITH_AS(
      merge_traces(options),
      (folder.path("rank1.json") + ": " + why + "; --keep-going leaves it out").c_str(), Error);
  CHECK(folder.entry_count() == 2);
  const MergedCase merged(files, {}, true);
  CHECK(merged.events() == kBoth);
  REQUIRE(merged.summary().left_out.size() == 1);
  CHECK(merged.summary().left_out[0].error.ends_with("rank1.json: " + why));
}
