#include "identity/evidence/file_reading.h"
#include "scan/event_scanner.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

// "stream" and "correlation" of a piece of work.
std::string piece(int stream, int correlation) {
  return R"({"stream": )" + std::to_string(stream) + R"(, "correlation": )" +
         std::to_string(correlation) + "}";
}

// A kernel of 3 ms at 0 and two of 10 us, the second and third at these times.
TraceText three(int second_us, int third_us) {
  return TraceText()
      .cat("kernel")
      .x("long", 0, 3000, piece(7, 1))
      .x("k", second_us, 10, piece(7, 2))
      .x("k", third_us, 10, piece(7, 3));
}

// The evidence of a list of events that is read in two chunks: one has the first events, whose
// number is `in_first`.
FileEvidence read_chunks(const TraceText& trace, int in_first = 100) {
  const std::string text = trace.array();
  std::vector<FileEvidence> chunks(2);
  ProblemCounts problems;
  EventScanner scanner;
  const std::string elements = text.substr(1, text.rfind(']'));
  scanner.start(elements, 1, Position::first, problems);
  for (int i = 0; const Event* event = scanner.next(); ++i)
    chunks[i < in_first ? 0 : 1].add_begin(*event, time_event(*event, problems));
  chunks[0].append(chunks[1]);
  return chunks[0];
}

std::uint64_t overlong(const TraceText& trace, int in_first = 100) {
  return read_chunks(trace, in_first).problems.count(Problem::overlong_work);
}

}  // namespace

TEST_CASE("stream order: work that ends over 1 ms after the next begins is counted, once") {
  CHECK(overlong(three(500, 600)) == 1);
  CHECK(overlong(three(1999, 2500)) == 1);
  CHECK(overlong(three(2000, 2500)) == 0);
  CHECK(read_chunks(three(500, 600)).problems.first_offset(Problem::overlong_work) == 2);
}

TEST_CASE("stream order: the work that follows may stand in another chunk") {
  CHECK(overlong(three(500, 600), 1) == 1);
  CHECK(overlong(three(500, 600), 2) == 1);
  CHECK(overlong(three(2500, 2600), 1) == 0);
}

TEST_CASE("stream order: only the next work of the row and stream counts") {
  CHECK(overlong(
            TraceText().cat("kernel").x("a", 0, 9000, piece(7, 1)).x("b", 9000, 5, piece(7, 2))) ==
        0);
  CHECK(overlong(TraceText()
                     .cat("kernel")
                     .x("a", 0, 9000, piece(7, 1))
                     .tid("20")
                     .x("b", 10, 5, piece(20, 2))) == 0);
  CHECK(overlong(
            TraceText().cat("kernel").x("a", 0, 9000, piece(7, 1)).x("b", 10, 5, piece(20, 2))) ==
        0);
  const std::string args = R"({"stream": 7})";
  CHECK(
      overlong(
          TraceText().cat("gpu_memcpy").x("a", 0, 9000, args).cat("kernel").x("b", 10, 5, args)) ==
      1);
}

TEST_CASE("stream order: a row of work that names no stream may be a whole device") {
  CHECK(overlong(TraceText().cat("gpu_memcpy").x("a", 0, 9000).cat("kernel").x("b", 10, 5)) == 0);
}

TEST_CASE("stream order: pieces of one launch may overlap") {
  TraceText graph;
  graph.cat("kernel").x("a", 0, 9000, piece(7, 1)).x("b", 10, 5, piece(7, 1));
  CHECK(overlong(graph) == 0);
  CHECK(overlong(graph.x("c", 20, 5, piece(7, 2))) == 1);
}

TEST_CASE("stream order: chunks tell the same as the whole, wherever they begin") {
  TraceText trace;
  trace.cat("kernel");
  for (int i = 0; i < 4; ++i)
    trace.x("a", 5000 * i, 4000, piece(7, 2 * i))
        .x("piece of a", 5000 * i + 10, 3, piece(7, 2 * i))
        .x("piece of a", 5000 * i + 14, 3, piece(7, 2 * i))
        .x("b", 5000 * i + 20, 3, piece(7, 2 * i + 1));
  for (int in_first = 0; in_first <= 16; ++in_first) {
    CAPTURE(in_first);
    CHECK(overlong(trace, in_first) == 4);
  }
}

TEST_CASE("stream order: work that was counted hides what was open before it") {
  TraceText trace;
  trace.cat("kernel").x("a", 0, 90'000, piece(7, 1)).x("b", 0, 9000, piece(7, 1));
  trace.x("c", 10, 5, piece(7, 2)).x("d", 20, 5, piece(7, 3));
  for (int in_first = 0; in_first <= 4; ++in_first) CHECK(overlong(trace, in_first) == 1);
}

TEST_CASE("stream order: rows beyond those of any job are not judged") {
  constexpr int kRows = static_cast<int>(StreamOrder::kMostRows);
  TraceText trace;
  trace.cat("kernel");
  for (int row = 0; row < kRows + 100; ++row)
    trace.tid(std::to_string(row)).x("a", 0, 9000, piece(7, 1)).x("b", 10, 5, piece(7, 2));
  CHECK(overlong(trace, 4 * kRows) == kRows);
}

TEST_CASE("stream order: ranges, operators and programs lie within each other") {
  for (const char* category : {"gpu_user_annotation", "cpu_op", "mtia_ccp_events", "hpu_op"})
    CHECK(overlong(TraceText().cat(category).x("a", 0, 9000).x("b", 10, 5)) == 0);
}
