#include "base/problems.h"
#include "common/option_values.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

namespace {

struct Kinds {
  bool python = true;
  bool module = false;
  bool op = true;
};

std::string read(const std::string& list, Kinds& kinds) {
  read_switches("--kinds", list,
                {{"python", {&kinds.python, &kinds.module}},
                 {"module", {&kinds.module}},
                 {"op", {&kinds.op}},
                 {"all"}});
  return std::string(kinds.python ? "p" : "-") + (kinds.module ? "m" : "-") +
         (kinds.op ? "o" : "-");
}

std::string read(const std::string& list) {
  Kinds kinds;
  return read(list, kinds);
}

}  // namespace

TEST_CASE("switch_list: turns on what is listed, in any order, and off all else") {
  CHECK(read("op") == "--o");
  CHECK(read("module,op") == "-mo");
  CHECK(read("op,python") == "pmo");
  CHECK(read("module,module") == "-m-");
  CHECK(read("all") == "---");
}

TEST_CASE("switch_list: refuses what it does not know, and leaves all as it was") {
  Kinds kinds;
  CHECK_THROWS_WITH_AS(
      read("op,modul", kinds),
      "--kinds: 'modul' is not one of python, module, op, all (did you mean 'module'?)",
      UsageError);
  CHECK_THROWS_WITH_AS(read("", kinds), "--kinds: '' is not one of python, module, op, all",
                       UsageError);
  CHECK(kinds.python);
  CHECK_FALSE(kinds.module);
}

TEST_CASE("switch_list: a choice is one of its words") {
  const auto read_two = [](const std::string& word) {
    return read_choice<int>("--pids", word, {{"rank", 1}, {"split", 2}});
  };
  CHECK(read_two("rank") == 1);
  CHECK(read_two("split") == 2);
  CHECK_THROWS_WITH_AS(read_two("splt"),
                       "--pids: 'splt' is neither rank nor split (did you mean 'split'?)",
                       UsageError);
  const auto read_three = [](const std::string& word) {
    return read_choice<char>("--align", word, {{"auto", 'a'}, {"sync", 's'}, {"none", 'n'}});
  };
  CHECK(read_three("sync") == 's');
  CHECK_THROWS_WITH_AS(read_three(""), "--align: '' is none of auto, sync, none", UsageError);
}
