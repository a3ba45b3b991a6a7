// Arguments of scopes, spans that the program measured, and async spans, in both languages.
#include "record/journal/recover.h"
#include "record/recorded.h"
#include "record/traceloom.h"
#include "support/child_process.h"

#include <chrono>
#include <csignal>
#include <limits>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

// Returns what a session writes of what `work` records.
template <typename Work>
Events events_of(const Work& work) {
  const TemporaryFolder folder;
  Session session(options_for(folder));
  work();
  session.close();
  const std::string text = read_trace(only_trace(session));
  CHECK(is_strict_json(std::string_view(text).substr(0, text.size() - 1)));
  return Events(text);
}

// Returns the args of the only event of that name and phase.
std::string args_of(const Events& events, const std::string& name, const std::string& phase = "X") {
  const Events found = events.of(name, phase);
  REQUIRE(found.size() == 1);
  const std::string& event = found[0];
  const std::size_t begin = event.find("\"args\":") + 7;
  return event.substr(begin, event.find('}', begin) + 1 - begin);
}

}  // namespace

TEST_CASE("args: integers, numbers and texts of a scope") {
  const Events events = events_of([] {
    static const Marker reduce("reduce", "comm", "bytes,ratio,dtype,is_last");
    { const ScopeWith scope(reduce, std::int64_t{1} << 40, 0.25, "bf16", true); }
    static const Marker late("late", "", "n");
    Scope scope(late);
    scope.finish(-7);
    late.instant(8);
    static const Marker full("full", "", "text");
    { const ScopeWith other(full, "1234567890123456789012345678\xc3\xa4"); }
  });
  CHECK(args_of(events, "late", "i") == R"({"epoch":0,"batch":0,"n":8})");
  CHECK(args_of(events, "full") ==
        "{\"epoch\":0,\"batch\":0,\"text\":\"1234567890123456789012345678\xc3\xa4\"}");
  CHECK(args_of(events, "reduce") ==
        R"({"epoch":0,"batch":0,"bytes":1099511627776,"ratio":0.25,"dtype":"bf16","is_last":1})");
  CHECK(args_of(events, "late") == R"({"epoch":0,"batch":0,"n":-7})");
}

TEST_CASE("args: what has no form in JSON, no name or no room is left out") {
  const Events events = events_of([] {
    static const Marker odd("odd", "", "epoch,a,a,text,nan");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    {
      const ScopeWith scope(odd, 9, 1, 2, "a\"b\x01 and \xc3\xa4 23456789012345678\xc3\xa4", nan,
                            "more");
    }
    static const Marker none("none");
    { const ScopeWith scope(none, 5); }
  });
  // 30 bytes of the text end in the middle of its last letter, which is left out.
  CHECK(args_of(events, "odd") ==
        "{\"epoch\":0,\"batch\":0,\"a\":1,\"text\":\"a\\\"b\\u0001 and \xc3\xa4 "
        "23456789012345678\"}");
  CHECK(args_of(events, "none") == R"({"epoch":0,"batch":0})");
}

TEST_CASE("args: of a long-running marker stand in its end") {
  const Events events = events_of([] {
    static const MarkerOptions options = [] {
      MarkerOptions made;
      made.long_running = true;
      made.args = "n";
      return made;
    }();
    static const Marker marker("long", "", options);
    const ScopeWith scope(marker, 3);
  });
  CHECK(args_of(events, "long", "B") == R"({"epoch":0,"batch":0})");
  CHECK(args_of(events, "long", "E") == R"({"epoch":0,"batch":0,"n":3})");
}

TEST_CASE("args: many events with them fill chunk after chunk") {
  const Events events = events_of([] {
    static const Marker marker("many", "", "a,b,c");
    for (int i = 0; i < 5000; ++i) const ScopeWith scope(marker, i, 2 * i, "x");
  });
  const Events many = events.of("many", "X");
  REQUIRE(many.size() == 5000);
  for (int i = 0; i < 5000; ++i)
    CHECK(many[static_cast<std::size_t>(i)].find(
              "\"a\":" + std::to_string(i) + ",\"b\":" + std::to_string(2 * i) + ",\"c\":\"x\"}") !=
          std::string::npos);
}

TEST_CASE("span: has the times that the program measured") {
  using namespace std::chrono_literals;
  const Events events = events_of([] {
    static const Marker gpu("gemm", "gpu", "flops"), scope("scope");
    const Scope around(scope);
    const auto begin = std::chrono::steady_clock::now();
    gpu.span(begin, 1500us, 12);
    gpu.span(begin + 2ms, -1ns, 13);
  });
  const Events spans = events.of("gemm", "X");
  REQUIRE(spans.size() == 2);
  CHECK(nanoseconds(spans[0], "dur") == 1'500'000);
  CHECK(nanoseconds(spans[1], "dur") == 0);
  CHECK(nanoseconds(spans[1], "ts") - nanoseconds(spans[0], "ts") == 2'000'000);
  CHECK(spans[0].find(R"("args":{"epoch":0,"batch":0,"flops":12}})") != std::string::npos);
  const std::int64_t before = nanoseconds(events.of("scope", "X")[0], "ts");
  const std::int64_t after_ns = nanoseconds(spans[0], "ts") - before;
  CHECK(after_ns >= -100'000);
  CHECK(after_ns < 1'000'000'000);
}

TEST_CASE("async: spans overlap, and end in another thread") {
  const Events events = events_of([] {
    static const Marker request("request", "serve", "tokens");
    request.async_begin(1, 128);
    request.async_begin(0xabcdef, 64);
    std::thread([&] { request.async_end(1); }).join();
    request.async_end(0xabcdef);
  });
  const Events begins = events.of("request", "b");
  const Events ends = events.of("request", "e");
  REQUIRE(begins.size() == 2);
  REQUIRE(ends.size() == 2);
  CHECK(begins.with(R"("tokens":128},"id":"0x1"})").size() == 1);
  CHECK(begins.with(R"("tokens":64},"id":"0xabcdef"})").size() == 1);
  CHECK(ends.with(R"("id":"0x1"})").size() == 1);
  CHECK(ends.with(R"("id":"0xabcdef"})").size() == 1);
}

TEST_CASE("args: C has the same") {
  const Events events = events_of([] {
    traceloom_marker* const marker = traceloom_marker_with("c", "comm", 0, 0, "bytes,ratio,dtype");
    const traceloom_arg args[] = {traceloom_integer(12), traceloom_number(0.5),
                                  traceloom_text("fp8")};
    traceloom_end_with(marker, traceloom_begin(marker), args, 3);
    traceloom_marker* const own = traceloom_marker_with("own", "", 0, 0, "n");
    const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
    traceloom_record_span(own, now.count(), 2500, args, 1);
    traceloom_async_begin(own, 7, args, 1);
    traceloom_async_end(own, 7);
    traceloom_end_with(nullptr, {}, args, 3);
    traceloom_end_with(own, traceloom_begin(own), nullptr, 3);
    traceloom_record_span(nullptr, 0, 0, nullptr, 0);
  });
  CHECK(args_of(events, "c") == R"({"epoch":0,"batch":0,"bytes":12,"ratio":0.5,"dtype":"fp8"})");
  REQUIRE(events.of("own", "X").size() == 2);
  const Events measured = events.of("own", "X").with(R"("n":12})");
  REQUIRE(measured.size() == 1);
  CHECK(nanoseconds(measured[0], "dur") == 2'500);
  CHECK(args_of(events, "own", "b") == R"({"epoch":0,"batch":0,"n":12})");
  CHECK(events.count("own", "e") == 1);
}

TEST_CASE("args: handlers of both languages get them as JSON") {
  struct Kept : TraceHandler {
    void duration(const DurationEvent& event) override {
      texts += std::string(event.args_json) + '|';
    }
    void instant(const InstantEvent& event) override {
      texts += (event.part == TRACELOOM_ASYNC_END ? "end " : "begin ") + std::to_string(event.id) +
               ' ' + std::string(event.args_json) + '|';
    }
    std::string texts;
  };
  const TemporaryFolder folder;
  Options options = options_for(folder);
  const auto kept = std::make_shared<Kept>();
  options.handlers.push_back(kept);
  Session session(options);
  static const Marker marker("handled", "", "n"), plain("plain");
  { const ScopeWith scope(marker, 5); }
  { const Scope scope(plain); }
  marker.async_begin(3, 6);
  marker.async_end(3);
  session.close();
  CHECK(kept->texts == R"({"n":5}||begin 3 {"n":6}|end 3 |)");
}

TEST_CASE("args: a killed process leaves them, spans and async begins in its journal") {
  const TemporaryFolder folder;
  const pid_t child = start_child([&] {
    Options options = options_for(folder);
    options.journal_folder = folder.path("journal");
    options.flush_ms = 60'000;
    const Session session(options);
    static const Marker marker("killed", "", "n,what");
    { const ScopeWith scope(marker, 5, "text"); }
    marker.span(std::chrono::steady_clock::now(), std::chrono::microseconds(250), 6);
    marker.async_begin(9, 7);
    raise(SIGKILL);
  });
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  const std::vector<RecoveredTrace> recovered =
      recover_journals(folder.path("journal"), {folder.path()});
  REQUIRE(recovered.size() == 1);
  CHECK(recovered[0].damaged == 0);
  const Events events = Events::of_file(recovered[0].path);
  CHECK(events.of("killed", "X").with(R"("n":5,"what":"text"}})").size() == 1);
  CHECK(events.of("killed", "X").with(R"("dur":250.000,)").with(R"("n":6}})").size() == 1);
  CHECK(events.of("killed", "b").with(R"("n":7},"id":"0x9"})").size() == 1);
}
