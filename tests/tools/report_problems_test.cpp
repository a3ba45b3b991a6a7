#include "common/terminal.h"
#include "tools/child.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

ProblemCounts sample() {
  ProblemCounts problems;
  problems.add(Problem::missing_bracket, 16778);
  problems.add(Problem::cut_event, 8812);
  problems.add(Problem::malformed_event, 300, 41233);
  problems.add(Problem::end_without_begin, 120, 52);
  problems.add(Problem::rank_from_position, 0);
  problems.add(Problem::sync_conflict, 0, 2);
  return problems;
}

}  // namespace

TEST_CASE("report_problems: one line a kind with place or count; loss is a warning") {
  CHECK(
      problem_lines("trace-stats", "rank0.json", sample(), Verbosity::normal, Paint()) ==
      "trace-stats: warning: rank0.json: byte 8812: the file is cut inside an event; everything "
      "before it was kept\n"
      "trace-stats: warning: rank0.json: 41,233 × event that is not JSON; skipped "
      "(first at byte 300)\n"
      "trace-stats: rank0.json: 52 × end event (E) without a begin event (B); dropped "
      "(first at byte 120)\n"
      "trace-stats: rank0.json: the file does not say its rank; its position among the inputs was "
      "used, so a missing rank cannot be seen; RANK=path names it\n"
      "trace-stats: rank0.json: 2 × more than one clock sync; the first was used\n");
}

TEST_CASE("report_problems: an explanation stands behind the sentence") {
  ProblemCounts problems;
  problems.add(Problem::sync_conflict, 40);
  problems.explain(Problem::sync_conflict, "7 and 9");
  CHECK(
      problem_lines("trace-merge", "rank2.json", problems, Verbosity::normal, Paint()) ==
      "trace-merge: rank2.json: byte 40: more than one clock sync; the first was used: 7 and 9\n");
}

TEST_CASE("report_problems: what a path or an explanation holds stays on its line") {
  ProblemCounts problems;
  problems.add(Problem::sync_conflict, 40);
  problems.explain(Problem::sync_conflict, "7 and \x1b[2J");
  CHECK(problem_lines("trace-merge", "a\nb\u009b.json", problems, Verbosity::normal, Paint()) ==
        "trace-merge: a\\nb\\u009b.json: byte 40: more than one clock sync; the first was used: 7 "
        "and \\x1b[2J\n");
}

TEST_CASE("report_problems: harmless irregularities are reported only with --verbose") {
  ProblemCounts problems;
  problems.add(Problem::missing_bracket, 16778);
  CHECK(problem_lines("trace-merge", "rank2.json", problems, Verbosity::normal, Paint()) == "");
  CHECK(problem_lines("trace-merge", "rank2.json", problems, Verbosity::verbose, Paint()) ==
        "trace-merge: rank2.json: byte 16778: the closing ] is missing (legal: the writer was "
        "stopped)\n");
}

TEST_CASE("report_problems: colour marks the warning and the file") {
  ProblemCounts problems;
  problems.add(Problem::gzip_cut, 7);
  CHECK(problem_lines("trace-merge", "a.gz", problems, Verbosity::normal, Paint(true)) ==
        "trace-merge: \x1b[1;33mwarning:\x1b[0m \x1b[1ma.gz\x1b[0m: byte 7: the gzip data is cut "
        "off; what could be unpacked was kept\n");
}

TEST_CASE("report_problems: prints to stderr, and nothing when there is nothing") {
  ProblemCounts problems;
  problems.add(Problem::trailing_comma, 9);
  const Ended ended = run_in_child([&] {
    report_problems("trace-merge", "a.json", {}, Verbosity::verbose);
    report_problems("trace-merge", "b.json", problems, Verbosity::normal);
    return 0;
  });
  CHECK(ended.out == "");
  CHECK(ended.err == "trace-merge: b.json: byte 9: comma before a closing bracket; ignored\n");
}
