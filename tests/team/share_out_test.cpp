#include "support/temporary_folder.h"
#include "support/thread_transport.h"
#include "team/team.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

// "0-2 2-3": begin and end of each block.
std::string words_of(const std::vector<FileBlock>& blocks) {
  std::string words;
  for (const FileBlock& block : blocks)
    words += fmt::format("{}{}-{}", words.empty() ? "" : " ", block.begin, block.end);
  return words;
}

}  // namespace

TEST_CASE("share out: blocks of about the same weight, in order") {
  CHECK(words_of(cut_by_weight({1, 1, 1, 1}, 2)) == "0-2 2-4");
  CHECK(words_of(cut_by_weight({1, 1, 1, 1, 1}, 2)) == "0-2 2-5");
  CHECK(words_of(cut_by_weight({9, 1, 1, 1}, 2)) == "0-1 1-4");
  CHECK(words_of(cut_by_weight({1, 1, 1, 9}, 2)) == "0-3 3-4");
  CHECK(words_of(cut_by_weight({5, 5}, 1)) == "0-2");
}

TEST_CASE("share out: each file belongs to one process, also if there are more processes") {
  CHECK(words_of(cut_by_weight({}, 2)) == "0-0 0-0");
  CHECK(words_of(cut_by_weight({7, 7}, 3)) == "0-1 1-1 1-2");
  CHECK(words_of(cut_by_weight({0, 0, 0}, 2)) == "0-0 0-3");
}

TEST_CASE("share out: process 0 weighs the files for all") {
  TemporaryFolder folder;
  const std::vector<std::string> paths{folder.write("large", std::string(1 << 20, 'x')),
                                       folder.write("small", "x"), folder.path() + "/missing"};
  std::vector<FileBlock> blocks(2);
  run_as_team(2, [&](Team& team) { blocks[team.rank()] = share_out(team, paths); });
  CHECK(words_of(blocks) == "0-1 1-3");
  Team alone;
  CHECK(words_of({share_out(alone, paths)}) == "0-3");
}
