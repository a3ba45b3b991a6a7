#include "identity/ranks/ranks.h"

#include "base/problems.h"
#include "identity/read_inputs.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

FileEvidence marked(const std::vector<Mark>& marks) {
  FileEvidence evidence;
  for (const Mark& mark : marks) evidence.rank_marks.add(mark);
  return evidence;
}

std::vector<FileRank> ranks_of(const std::vector<Input>& inputs,
                               const std::vector<FileEvidence>& evidence) {
  ReadInputs all;
  for (std::size_t i = 0; i < inputs.size(); ++i) all.add(inputs[i], evidence[i]);
  return assign_ranks(all.all());
}

FileRank rank_of_one(const Input& input, const FileEvidence& evidence) {
  return ranks_of({input}, {evidence}).front();
}

std::string error_of(const Input& input, const FileEvidence& evidence) {
  try {
    ranks_of({input}, {evidence});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// One source after the other, strongest first.
FileEvidence everything() {
  FileEvidence evidence = marked({{2, "2", 0}});
  evidence.distributed_rank = 3;
  evidence.top_level_rank = 4;
  return evidence;
}

}  // namespace

TEST_CASE("ranks: names its sources") {
  CHECK(to_string(RankSource::argument) == "RANK= argument");
  CHECK(to_string(RankSource::metadata_event) == "global_rank event");
  CHECK(to_string(RankSource::distributed_info) == "distributedInfo.rank");
  CHECK(to_string(RankSource::top_level_key) == "global_rank key");
  CHECK(to_string(RankSource::file_name) == "file name");
  CHECK(to_string(RankSource::position) == "position");
  CHECK(to_string(RankSource::merged) == "merged file");
}

TEST_CASE("ranks: the strongest source wins") {
  FileEvidence evidence = everything();
  const Input input{"rank5.json", std::nullopt};
  FileRank file = rank_of_one({"rank5.json", 1}, evidence);
  CHECK(file.rank == 1);
  CHECK(file.source == RankSource::argument);
  CHECK(file.problems.empty());

  file = rank_of_one(input, evidence);
  CHECK(file.rank == 2);
  CHECK(file.source == RankSource::metadata_event);
  CHECK(file.problems.count(Problem::rank_disagrees) == 3);

  evidence.rank_marks = {};
  file = rank_of_one(input, evidence);
  CHECK(file.rank == 3);
  CHECK(file.source == RankSource::distributed_info);
  CHECK(file.problems.count(Problem::rank_disagrees) == 2);

  evidence.distributed_rank.reset();
  file = rank_of_one(input, evidence);
  CHECK(file.rank == 4);
  CHECK(file.source == RankSource::top_level_key);
  CHECK(file.problems.count(Problem::rank_disagrees) == 1);

  evidence.top_level_rank.reset();
  file = rank_of_one(input, evidence);
  CHECK(file.rank == 5);
  CHECK(file.source == RankSource::file_name);
  CHECK(file.problems.empty());
}

TEST_CASE("ranks: sources that agree are no problem") {
  FileEvidence evidence = marked({{6, "1234", 0}});
  evidence.distributed_rank = 6;
  evidence.top_level_rank = 6;
  const FileRank file = rank_of_one({"rank6.json", std::nullopt}, evidence);
  CHECK(file.rank == 6);
  CHECK(file.problems.empty());
  CHECK_FALSE(file.is_merged());
  CHECK(file.rank_of("1234") == 6);
  CHECK(file.rank_of("9") == 6);
  CHECK(file.rank_of("") == 6);
}

TEST_CASE("ranks: what tells no rank gets the lowest number that is free") {
  const std::vector<Input> inputs{{"a.json", std::nullopt},
                                  {"rank1.json", std::nullopt},
                                  {"b.json", std::nullopt},
                                  {"c.json", 3},
                                  {"d.json", std::nullopt}};
  const std::vector<FileRank> ranks = ranks_of(inputs, std::vector<FileEvidence>(5));
  const std::vector<std::int64_t> expected{0, 1, 2, 3, 4};
  for (std::size_t i = 0; i < 5; ++i) CHECK(ranks[i].rank == expected[i]);
  CHECK(ranks[0].source == RankSource::position);
  CHECK(ranks[0].problems.count(Problem::rank_from_position) == 1);
  CHECK(ranks[1].problems.empty());
  CHECK(ranks[3].problems.empty());
  CHECK(ranks[4].problems.count(Problem::rank_from_position) == 1);
}

TEST_CASE("ranks: one input alone is rank 0 without a word") {
  const FileRank file = rank_of_one({"trace.json", std::nullopt}, {});
  CHECK(file.rank == 0);
  CHECK(file.source == RankSource::position);
  CHECK(file.problems.empty());
}

TEST_CASE("ranks: no input, no rank") {
  CHECK(ranks_of({}, {}).empty());
}

TEST_CASE("ranks: in a merged file each pid is a rank") {
  const FileRank file = rank_of_one({"rank9.json", std::nullopt},
                                    marked({{2, "2", 0}, {0, "1234", 0}, {5, "2", 0}, {7, "", 0}}));
  CHECK(file.is_merged());
  CHECK(file.source == RankSource::merged);
  CHECK(file.rank == 0);
  CHECK(file.rank_of("1234") == 0);
  CHECK(file.rank_of("2") == 2);  // the first that was said of it
  CHECK(file.rank_of("") == 7);
  CHECK(file.rank_of("8") == 8);
  CHECK(file.rank_of("-1") == 0);
  CHECK(file.rank_of("\"Spans\"") == 0);
  CHECK(file.rank_of("8x") == 0);
  CHECK(file.rank_of("2147483648") == 0);
  CHECK(file.rank_of("99999999999999999999") == 0);
}

TEST_CASE("ranks: threads of a pid of several ranks go by what they say, and that is told") {
  const FileRank file =
      rank_of_one({"merged.json", std::nullopt},
                  marked({{4, "4", 10, "100"}, {5, "4", 20, "200"}, {5, "5", 30, "200"}}));
  CHECK(file.ranks() == std::vector<std::int64_t>{4, 5});
  CHECK(file.rank_of("4") == 4);
  CHECK(file.rank_of("4", "100") == 4);
  CHECK(file.rank_of("4", "200") == 5);
  CHECK(file.rank_of("4", "201") == 4);
  CHECK(file.rank_of("5", "200") == 5);
  CHECK(file.rank_of("5", "100") == 5);
  CHECK(file.problems.count(Problem::ranks_in_one_pid) == 1);
  CHECK(file.problems.first_offset(Problem::ranks_in_one_pid) == 20);
  CHECK(file.problems.explanation(Problem::ranks_in_one_pid) ==
        "pid 4 has threads of ranks 4 and 5, and those without a known rank count as rank 4; "
        "merge the files of the ranks to have them apart");
}

TEST_CASE("ranks: a thread that two ranks claim is the first one's, and that is told") {
  const FileRank file =
      rank_of_one({"merged.json", std::nullopt},
                  marked({{0, "0", 10, "100"}, {1, "0", 20, "100"}, {2, "0", 30, "300"}}));
  CHECK(file.ranks() == std::vector<std::int64_t>{0, 2});
  CHECK(file.rank_of("0", "100") == 0);
  CHECK(file.rank_of("0", "300") == 2);
  CHECK(file.problems.count(Problem::ranks_in_one_pid) == 2);
  CHECK(file.problems.first_offset(Problem::ranks_in_one_pid) == 20);
  CHECK(file.problems.explanation(Problem::ranks_in_one_pid) ==
        "thread 100 of pid 0 is of ranks 0 and 1, and counts as rank 0; merge the files of the "
        "ranks to have them apart");
  const FileRank without_tid =
      rank_of_one({"merged.json", std::nullopt}, marked({{0, "4", 10}, {1, "4", 20}}));
  CHECK(without_tid.problems.explanation(Problem::ranks_in_one_pid) ==
        "pid 4 is of ranks 0 and 1, and counts as rank 0; merge the files of the ranks to have "
        "them apart");
}

TEST_CASE("ranks: a thread of another rank keeps it when its pid's rank claims it later") {
  const FileRank file =
      rank_of_one({"merged.json", std::nullopt},
                  marked({{0, "0", 10, "1"}, {1, "0", 20, "2"}, {0, "0", 30, "2"}}));
  CHECK(file.rank_of("0", "2") == 1);
  CHECK(file.problems.count(Problem::ranks_in_one_pid) == 2);
}

TEST_CASE("ranks: an argument makes a merged file one rank") {
  const FileRank file = rank_of_one({"merged.json", 4}, marked({{0, "0", 0}, {1, "1", 0}}));
  CHECK_FALSE(file.is_merged());
  CHECK(file.rank == 4);
  CHECK(file.rank_of("1") == 4);
  CHECK(file.problems.empty());
}

TEST_CASE("ranks: what a merge of ours wrote is merged, even of one rank") {
  FileEvidence evidence = marked({{3, "3", 0}});
  evidence.merged_by = "0.1.0";
  const FileRank file = rank_of_one({"out.json", std::nullopt}, evidence);
  CHECK(file.is_merged());
  CHECK(file.rank == 3);
  evidence.rank_marks = {};
  CHECK(rank_of_one({"rank2.json", std::nullopt}, evidence).source == RankSource::file_name);
}

TEST_CASE("ranks: all ranks of a merged file are taken") {
  const std::vector<Input> inputs{{"a.json", std::nullopt}, {"merged.json", std::nullopt}};
  const std::vector<FileRank> ranks =
      ranks_of(inputs, {FileEvidence{}, marked({{0, "0", 0}, {1, "1", 0}, {3, "3", 0}})});
  CHECK(ranks[0].rank == 2);
  CHECK(ranks[0].source == RankSource::position);
}

TEST_CASE("ranks: a number that is no rank is refused") {
  const Input input{"x.json", std::nullopt};
  CHECK(error_of(input, marked({{-1, "0", 0}})) ==
        "x.json: its global_rank event is -1, which is no rank; name the rank: RANK=x.json");
  FileEvidence evidence;
  evidence.distributed_rank = 2'147'483'648;
  CHECK(error_of(input, evidence) ==
        "x.json: its distributedInfo.rank is 2147483648, which is no rank; name the rank: "
        "RANK=x.json");
  evidence = {};
  evidence.top_level_rank = -7;
  CHECK(error_of(input, evidence) ==
        "x.json: its global_rank key is -7, which is no rank; name the rank: RANK=x.json");
  CHECK(error_of(input, marked({{0, "0", 0}, {-1, "1", 0}})) ==
        "x.json: its global_rank event is -1, which is no rank; name the rank: RANK=x.json");
  CHECK(error_of({"x.json", 2'147'483'648}, {}) ==
        "x.json: 2147483648 is no rank; ranks are 0 to 2147483647");
}

TEST_CASE("ranks: a stronger source makes good for a number that is no rank") {
  CHECK(rank_of_one({"x.json", 2}, marked({{-1, "0", 0}})).rank == 2);
  CHECK(rank_of_one({"x.json", 2}, marked({{-1, "0", 0}})).problems.empty());
  FileEvidence evidence = marked({{3, "0", 0}});
  evidence.top_level_rank = -1;
  const FileRank file = rank_of_one({"x.json", std::nullopt}, evidence);
  CHECK(file.rank == 3);
  CHECK(file.problems.count(Problem::rank_disagrees) == 1);
}
