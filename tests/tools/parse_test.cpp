#include "base/problems.h"
#include "common/command_line.h"
#include "tools/child.h"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

using Arguments = std::vector<const char*>;

bool parse_words(CLI::App& app, Arguments words) {
  words.insert(words.begin(), "program");
  return parse(app, static_cast<int>(words.size()), words.data());
}

// A tool without commands.
struct MergeLine {
  MergeLine() {
    set_up(app, "trace-merge");
    set_help_style(app, {});
    add_inputs(app, inputs);
    add_output(app, output);
    add_threads(app, threads);
    app.add_option("--top", top, "How many rows")->type_name("N");
    CLI::Option* exact_flag = app.add_flag("--exact", exact, "Slow and exact");
    app.add_flag("--fast", fast, "Fast")->excludes(exact_flag);
    app.add_flag("--check", check, "Check twice")->needs(exact_flag);
  }

  CLI::App app{"Merges traces"};
  std::vector<std::string> inputs;
  std::string output = "-";
  unsigned threads = 0;
  int top = 20;
  bool exact = false;
  bool fast = false;
  bool check = false;
};

// A tool with commands.
struct StatsLine {
  StatsLine() {
    set_up(app, "trace-stats");
    set_help_style(app, {});
    app.require_subcommand(1);
    CLI::App* summary = app.add_subcommand("summary", "What each file holds");
    add_inputs(*summary, inputs);
    CLI::App* steps = app.add_subcommand("steps", "Time of each training step");
    add_inputs(*steps, inputs);
    steps->add_option("--step", step, "Which step")->type_name("N")->required();
    app.add_subcommand("secret", "Not shown")->group("");
    set_examples(app, {{"a quick look", "trace-stats summary rank0.json"}});
  }

  CLI::App app{"Says what limits the run"};
  std::vector<std::string> inputs;
  int step = 0;
};

template <typename Line>
std::string refused(const Arguments& words) {
  Line line;
  try {
    parse_words(line.app, words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

template <typename Line>
Ended run_line(const Arguments& words) {
  return run_in_child([&] {
    Line line;
    return parse_words(line.app, words) ? 1 : 0;
  });
}

}  // namespace

TEST_CASE("parse: a good line fills the variables") {
  MergeLine line;
  CHECK(parse_words(line.app, {"a.json", "-j4", "b.json", "-o", "out.json", "--top=7", "-"}));
  CHECK(line.inputs == std::vector<std::string>{"a.json", "b.json", "-"});
  CHECK(line.output == "out.json");
  CHECK(line.threads == 4);
  CHECK(line.top == 7);
}

TEST_CASE("parse: an unknown option gets the nearest one, or the way to the help") {
  CHECK(refused<MergeLine>({"a.json", "--thredas", "4"}) ==
        "unknown option --thredas (did you mean --threads?)");
  CHECK(refused<MergeLine>({"a.json", "--thredas=4"}) ==
        "unknown option --thredas (did you mean --threads?)");
  CHECK(refused<MergeLine>({"a.json", "-q"}) == "unknown option -q; see trace-merge --help");
  CHECK(refused<StatsLine>({"steps", "a.json", "--stp", "4"}) ==
        "unknown option --stp (did you mean --step?)");
  CHECK(refused<StatsLine>({"summary", "a.json", "--quite"}) ==
        "unknown option --quite; see trace-stats summary --help");
}

TEST_CASE("parse: an unknown option is reported before what is missing because of it") {
  CHECK(refused<MergeLine>({"--thredas"}) == "unknown option --thredas (did you mean --threads?)");
  CHECK(refused<StatsLine>({"--vresion"}) == "unknown option --vresion (did you mean --version?)");
}

TEST_CASE("parse: an unknown command gets the nearest one, or the way to the help") {
  CHECK(refused<StatsLine>({"sumary", "a.json"}) ==
        "unknown command 'sumary' (did you mean 'summary'?)");
  CHECK(refused<StatsLine>({"frobnicate"}) ==
        "unknown command 'frobnicate'; see trace-stats --help");
  CHECK(refused<StatsLine>({"secre"}) == "unknown command 'secre'; see trace-stats --help");
}

TEST_CASE("parse: what is missing is named") {
  CHECK(refused<MergeLine>({}) == "argument TRACE is missing; see trace-merge --help");
  CHECK(refused<StatsLine>({}) == "a command is missing (summary, steps); see trace-stats --help");
  CHECK(refused<StatsLine>({"summary"}) ==
        "argument TRACE is missing; see trace-stats summary --help");
  CHECK(refused<StatsLine>({"steps", "a.json"}) ==
        "option --step is missing; see trace-stats steps --help");
}

TEST_CASE("parse: values that are missing, wrong or too many") {
  CHECK(refused<MergeLine>({"a.json", "--top"}) == "--top needs a value; see trace-merge --help");
  CHECK(refused<MergeLine>({"a.json", "-o", ""}) ==
        "--output needs a value; see trace-merge --help");
  CHECK(refused<StatsLine>({"steps", "a.json", "--step", "1", ""}) == "accepted");
  CHECK(refused<MergeLine>({"a.json", "--top", "many"}) == "--top: 'many' is not a number");
  CHECK(refused<MergeLine>({"a.json", "-o", "x", "-o", "y"}) == "--output is given more than once");
}

TEST_CASE("parse: options that do not go together") {
  CHECK(refused<MergeLine>({"a.json", "--exact", "--fast"}) ==
        "--exact and --fast exclude each other");
  CHECK(refused<MergeLine>({"a.json", "--check"}) == "--check needs --exact too");
}

TEST_CASE("parse: a word that nothing takes is named") {
  CLI::App app("Demo");
  set_up(app, "trace-record");
  try {
    parse_words(app, {"what"});
    FAIL("accepted");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()) == "unexpected argument 'what'; see trace-record --help");
  }
}

TEST_CASE("parse: --version prints to stdout and there is nothing more to do") {
  const Ended ended = run_line<MergeLine>({"--version"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == fmt::format("trace-merge {}\n", TRACELOOM_VERSION));
  CHECK(ended.err == "");
}

TEST_CASE("parse: --help prints to stdout, also where something is missing") {
  const Ended ended = run_line<MergeLine>({"--help"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err == "");
  CHECK(ended.out == R"(Merges traces

Usage: trace-merge [options] TRACE...

Arguments:
  TRACE...                  Trace files, folders or patterns; - is stdin

Options:
      --top N               How many rows
      --exact               Slow and exact
      --fast                Fast
      --check               Check twice

Common options:
  -o, --output FILE         Write to FILE; .gz or .zst packs, - is stdout
  -j, --threads N           Use N threads; 0: one per core [default: 0]
  -h, --help                Show this help
      --version             Show the version
)");
  CHECK(run_line<MergeLine>({"-h"}).out == ended.out);
}

TEST_CASE("parse: the help of a tool with commands lists them, without the hidden ones") {
  CHECK(run_line<StatsLine>({"--help"}).out == R"(Says what limits the run

Usage: trace-stats COMMAND [options]   (COMMAND --help shows its options)
Example: trace-stats summary rank0.json   # a quick look

Commands:
  summary   What each file holds
  steps     Time of each training step

Common options:
  -h, --help                Show this help
      --version             Show the version
)");
}

TEST_CASE("parse: a command has its own help") {
  CHECK(run_line<StatsLine>({"steps", "--help"}).out == R"(Time of each training step

Usage: trace-stats steps [options] TRACE...

Arguments:
  TRACE...                  Trace files, folders or patterns; - is stdin

Options:
      --step N              Which step

Common options:
  -h, --help                Show this help
)");
}
