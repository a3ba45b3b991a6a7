#include "base/problems.h"
#include "common/command_line.h"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

struct Line {
  Line() {
    set_up(app, "tool");
    add_inputs(app, inputs);
    add_output(app, output);
    add_threads(app, threads);
    add_format(app, format);
    add_strict(app, strict);
    add_keep_going(app, keep_going);
    add_verbose(app, verbosity);
    add_size(app, "-m,--memory", memory, "Budget");
    add_duration(app, "--from", from, "Start");
  }

  bool parse_words(std::vector<const char*> words) {
    words.insert(words.begin(), {"tool", "in.json"});
    return parse(app, static_cast<int>(words.size()), words.data());
  }

  CLI::App app;
  std::vector<std::string> inputs;
  std::string output = "-";
  unsigned threads = 3;
  TableFormat format = TableFormat::text;
  bool strict = false;
  bool keep_going = false;
  Verbosity verbosity = Verbosity::normal;
  std::uint64_t memory = 1;
  std::int64_t from = 2;
};

std::string refused_options(const std::vector<const char*>& words) {
  Line line;
  try {
    line.parse_words(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("options: what is not given keeps its default") {
  Line line;
  CHECK(line.parse_words({}));
  CHECK(line.inputs == std::vector<std::string>{"in.json"});
  CHECK(line.output == "-");
  CHECK(line.threads == 3);
  CHECK(line.format == TableFormat::text);
  CHECK_FALSE(line.strict);
  CHECK_FALSE(line.keep_going);
  CHECK(line.verbosity == Verbosity::normal);
  CHECK(line.memory == 1);
  CHECK(line.from == 2);
}

TEST_CASE("options: what is given is read in its units") {
  Line line;
  CHECK(line.parse_words({"-o", "out.json", "--threads", "0", "--format", "md", "--strict",
                          "--keep-going", "-v", "-m", "64MiB", "--from", "-1.5ms"}));
  CHECK(line.output == "out.json");
  CHECK(line.threads == 0);
  CHECK(line.format == TableFormat::md);
  CHECK(line.strict);
  CHECK(line.keep_going);
  CHECK(line.verbosity == Verbosity::verbose);
  CHECK(line.memory == 64 * 1024 * 1024);
  CHECK(line.from == -1'500'000);
}

TEST_CASE("options: a value that cannot be read says what would do") {
  CHECK(refused_options({"-j", "many"}) ==
        "--threads: 'many' is not a number of threads from 0 to 1024");
  CHECK(refused_options({"-j", "1025"}) ==
        "--threads: '1025' is not a number of threads from 0 to 1024");
  CHECK(refused_options({"-j", "-1"}) ==
        "--threads: '-1' is not a number of threads from 0 to 1024");
  CHECK(refused_options({"-j", "4x"}) ==
        "--threads: '4x' is not a number of threads from 0 to 1024");
  CHECK(refused_options({"-j", "1024"}) == "accepted");
  CHECK(refused_options({"--memory", "64Q"}) == "--memory: '64Q' is not a size (try 64MiB)");
  CHECK(refused_options({"--from", "7"}) == "--from: '7' is not a time (try 1.5ms)");
  CHECK(refused_options({"--format", "jsn"}) ==
        "--format: 'jsn' is not one of table, csv, json, md (did you mean 'json'?)");
  CHECK(refused_options({"--format", "xml"}) ==
        "--format: 'xml' is not one of table, csv, json, md");
}
