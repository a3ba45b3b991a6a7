#include "identity/ranks/ranks.h"
#include "identity/read_inputs.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

std::vector<FileRank> ranks_of(const std::vector<Input>& inputs,
                               const std::vector<FileEvidence>& evidence) {
  ReadInputs all;
  for (std::size_t i = 0; i < inputs.size(); ++i) all.add(inputs[i], evidence[i]);
  return assign_ranks(all.all());
}

// The rank that the name of a file alone says.
std::optional<std::int64_t> rank_in_name(const std::string& path) {
  const FileRank file = ranks_of({{path, std::nullopt}}, {FileEvidence()}).front();
  return file.source == RankSource::file_name ? std::optional(file.rank) : std::nullopt;
}

std::vector<FileRank> ranks_of(const std::vector<std::string>& paths) {
  std::vector<Input> inputs;
  for (const std::string& path : paths) inputs.push_back({path, std::nullopt});
  return ranks_of(inputs, std::vector<FileEvidence>(paths.size()));
}

// Returns "0 1 3" if all ranks are known from the names, otherwise "by position", and whose are.
std::string said(const std::vector<std::string>& paths) {
  std::string words;
  for (const FileRank& file : ranks_of(paths)) {
    if (file.source == RankSource::position) {
      CHECK(file.problems.count(Problem::rank_from_position) == 1);
      words += "position ";
    } else {
      CHECK(file.source == RankSource::file_name);
      CHECK(file.problems.empty());
      words += std::to_string(file.rank) + " ";
    }
  }
  words.pop_back();
  return words;
}

// A name for each of ranks 0, 1 and 3; "{}" is the rank.
std::vector<std::string> names(const std::string& form) {
  std::vector<std::string> paths;
  for (const char* rank : {"0", "1", "3"}) {
    std::string path = form;
    for (std::size_t at = path.find("{}"); at != std::string::npos; at = path.find("{}"))
      path.replace(at, 2, rank);
    paths.push_back(path);
  }
  return paths;
}

}  // namespace

TEST_CASE("trace_name: the rank is the number after the last word rank") {
  CHECK(rank_in_name("ep1-ba42-rank3.json") == 3);
  CHECK(rank_in_name("rank-0.Apr_03_20_31_33.pt.trace.json") == 0);
  CHECK(rank_in_name("rank_2.trace.json") == 2);
  CHECK(rank_in_name("traces/run7/rank0012.json.gz") == 12);
  CHECK(rank_in_name("rank1-of-rank9.json") == 9);
  CHECK(rank_in_name("rank4-ranking.json") == 4);
  CHECK(rank_in_name("rank4b.json") == 4);
  CHECK(rank_in_name("rank5") == 5);
  CHECK(rank_in_name("rank2147483647.json") == 2'147'483'647);
}

TEST_CASE("trace_name: the word rank has many forms") {
  for (const char* path :
       {"exp[run]-rank[3].17671900.pt.trace.json", "trace_Rank_3.json", "RANK3.json", "rank=3.json",
        "rank.3.json", "rank 3.json", "trace (rank 3).json", "rank:3.json", "rank(3).json",
        "rank3of4.json", "Rank 3 of 4.json", "world_rank_3.json", "global_rank_3.json",
        "globalrank-3.json", "llama70b-8gpu_rank_3.json", "node07_rank-3.pt.trace.json",
        "dp1_rank3.json"}) {
    CAPTURE(path);
    CHECK(rank_in_name(path) == 3);
  }
}

TEST_CASE("trace_name: a rank within a part of the job is none") {
  for (const char* path :
       {"local_rank3.json", "node0_local_rank1.json", "localrank3.json", "LocalRank3.json",
        "TPRank3.json", "tp_rank_3.json", "PP-RANK-3.json", "node.rank.3.json", "tprank3.json",
        "tensor_model_parallel_rank_3.json", "lora_rank16.json"}) {
    CAPTURE(path);
    CHECK_FALSE(rank_in_name(path).has_value());
  }
  CHECK(rank_in_name("rank2_node1_local_rank0.json") == 2);
  CHECK(rank_in_name("node1_local_rank0_rank2.json") == 2);
  CHECK(rank_in_name("global_rank_2_local_rank_0.json") == 2);
  CHECK(rank_in_name("rank-2-node-1-localrank-0.json") == 2);
}

TEST_CASE("trace_name: there may be no rank") {
  for (const char* path :
       {"", "-", "trace.json", "rank.json", "rank", "rank-", "rank--1.json", "rank_-1.json",
        "ranks3.json", "rank+3.json", "frank3.json", "traceRank3.json", "rank3/trace.json",
        "worker3.json", "3.json", "rank2147483648.json", "rank99999999999999999999.json"}) {
    CAPTURE(path);
    CHECK_FALSE(rank_in_name(path).has_value());
  }
  CHECK(rank_in_name("rank3-rank4294967296.json") == 3);
}

TEST_CASE("trace_name: other styles are read where the names agree") {
  for (const char* form : {"{}.json",
                           "trace_{}.json",
                           "trace_0000{}.json.gz",
                           "trace_{}_of_4.json",
                           "{}of4.json",
                           "Trace-{}.json",
                           "r{}-2025-3-11.json",
                           "trace_r{}.json",
                           "1767.1-TP-{}.trace.json",
                           "1767.1-TP-{}-PP-0.trace.json",
                           "worker{}.pt.trace.json",
                           "worker{}_step_12.json",
                           "profile_gpu{}.json",
                           "trace.cuda:{}.json",
                           "device_{}.pt.trace.json",
                           "process_{}.json",
                           "dp{}_tp0_pp0.json",
                           "node0_gpu{}.json",
                           "run/{}/trace.json",
                           "{}/step_12/trace.json",
                           "gpu{}/host_{}.pt.trace.json",
                           "rank_{}/host_400{}.17671900400{}.pt.trace.json",
                           "/run/rank{}/step_12/trace_7.json"}) {
    CAPTURE(form);
    CHECK(said(names(form)) == "0 1 3");
  }
  // The time stamps of the ranks differ.
  CHECK(said({"worker0_step_12.1694128201545.pt.trace.json",
              "worker1_step_12.1694128201556.pt.trace.json"}) == "0 1");
}

TEST_CASE("trace_name: numbers that may be anything else are no ranks") {
  const std::string by_position = "position position position";
  for (const char* form :
       {"node{}.json", "host-{}.json", "step_{}.json", "ep{}.json", "ba{}.json", "llama{}b.json",
        "trace_{}b.json", "local_rank{}.json", "tp_rank{}.json", "2025-03-1{}.json", "{}.{}.json",
        "dp{}_tp1.json", "TP-{}-PP-{}.json", "gpu{}_step_{}.json"}) {
    CAPTURE(form);
    CHECK(said(names(form)) == by_position);
  }
  // pids, times, numbers that count from 1, the same number twice, two styles, half a world
  CHECK(said({"trace_4000.json", "trace_3993.json", "trace_3979.json"}) == by_position);
  CHECK(said({"1767190004.json", "1767190005.json", "1767190006.json"}) == by_position);
  CHECK(said({"trace_1.json", "trace_2.json", "trace_3.json"}) == by_position);
  CHECK(said({"1_of_3.json", "2_of_3.json", "3_of_3.json"}) == by_position);
  CHECK(said({"a/trace_0.json", "a/trace_1.json", "b/trace_0.json"}) == by_position);
  CHECK(said({"trace_0.json", "trace_1.json", "worker2.json"}) == by_position);
  CHECK(said({"trace_0.json", "trace_1.json", "trace_6.json"}) == by_position);
  CHECK(said({"0_of_4.json", "1_of_4.json", "2_of_8.json"}) == by_position);
  CHECK(said({"hostA_gpu0.json", "hostA_gpu1.json", "hostB_gpu2.json"}) == by_position);
  CHECK(said({"dp0_tp0.json", "dp0_tp1.json", "dp1_tp0.json"}) == by_position);
}

TEST_CASE("trace_name: the size of the world may tell that ranks are missing") {
  CHECK(said({"0_of_8.json", "7_of_8.json"}) == "0 7");
  for (const FileRank& file : ranks_of({"0_of_8.json", "7_of_8.json"})) CHECK(file.world_size == 8);
  for (const FileRank& file : ranks_of({"rank1of4.json", "rank-3-of-4.json"}))
    CHECK(file.world_size == 4);
  CHECK_FALSE(ranks_of({"rank4of4.json"})[0].world_size.has_value());
  CHECK_FALSE(ranks_of({"rank0.4.json"})[0].world_size.has_value());
  FileEvidence evidence;
  evidence.world_size = 16;  // stronger than the name
  CHECK(ranks_of({{"rank3of4.json", std::nullopt}}, {evidence})[0].world_size == 16);
}

TEST_CASE("trace_name: the word rank needs no agreement") {
  CHECK(said({"rank0.1.json", "rank0.2.json", "rank7.1.json", "rank7.2.json"}) == "0 0 7 7");
  CHECK(said({"rank0.json", "rank2.json", "other.json"}) == "0 2 position");
  CHECK(said({"rank_0/a.json", "rank_0/b.json", "rank_1/a.json"}) == "0 0 1");
  CHECK(said({"rank_0/a.json", "rank_1/a.json", "merged.json"}) == "0 1 position");
  // One folder may hold anything.
  CHECK(said({"rank_1/a.json", "rank_1/b.json"}) == "position position");
  CHECK(said({"rank_1/rank5.json", "rank_1/rank6.json"}) == "5 6");
}

TEST_CASE("trace_name: a style is read in the files that claim no rank themselves") {
  FileEvidence two;
  two.distributed_rank = 2;
  const std::vector<Input> inputs{{"trace_7.json", std::nullopt},
                                  {"trace_0.json", std::nullopt},
                                  {"merged.json", 5},
                                  {"trace_1.json", std::nullopt}};
  const std::vector<FileRank> ranks = ranks_of(inputs, {two, {}, {}, {}});
  CHECK(ranks[0].rank == 2);
  CHECK(ranks[0].problems.empty());  // the 7 may be anything
  CHECK(ranks[1].source == RankSource::file_name);
  CHECK(ranks[3].rank == 1);
}

TEST_CASE("trace_name: the cycle is the name without the rank, in the style of the rank") {
  for (const FileRank& file : ranks_of(names("TP-{}-step_12.json"))) CHECK(file.cycle == "step_12");
  for (const FileRank& file : ranks_of(names("trace_{}_of_4.json"))) CHECK(file.cycle == "trace");
  for (const FileRank& file : ranks_of(names("{}.json"))) CHECK(file.cycle.empty());
  for (const FileRank& file : ranks_of(names("{}/ep0-ba4.json"))) CHECK(file.cycle == "ep0-ba4");
  for (const FileRank& file : ranks_of(names("ep0 (rank {}).json"))) CHECK(file.cycle == "ep0");
  CHECK(ranks_of({"trace_1.json", "trace_2.json"})[1].cycle == "trace_2");
}

TEST_CASE("trace_name: the cycle is what is left without rank and endings") {
  CHECK(cycle_of_name("traces/ep1-ba42-rank3.json") == "ep1-ba42");
  CHECK(cycle_of_name("ep0-ba12-rank3.json.gz") == "ep0-ba12");
  CHECK(cycle_of_name("rank0.4.pt.trace.json") == "4");
  CHECK(cycle_of_name("rank-17_ep2_ba3.json") == "ep2_ba3");
  CHECK(cycle_of_name("ep2-rank3-ba5.json") == "ep2-ba5");
  CHECK(cycle_of_name("ep2_rank3_ba5.json") == "ep2-ba5");
  CHECK(cycle_of_name("node_trace.2.log") == "node_trace.2");
  CHECK(cycle_of_name("merged.json") == "merged");
  CHECK(cycle_of_name("_ep1_.json") == "ep1");
  CHECK(cycle_of_name("ep0-Rank[3]-ba2.json") == "ep0-ba2");
  CHECK(cycle_of_name("rank3of4.json").empty());
  CHECK(cycle_of_name("ep0-local_rank3.json") == "ep0-local_rank3");
}

TEST_CASE("trace_name: the cycle may be empty") {
  for (const char* path : {"", "-", "rank3.json", "rank_3.trace.json", "traces/rank0.json.gz",
                           "ep0-ba4/rank0.pt.trace.json.gz", ".json", "worker2.json", "a/"}) {
    CAPTURE(path);
    CHECK(cycle_of_name(path).empty());
  }
}

TEST_CASE("trace_name: workers are ranks only where no rank is named") {
  CHECK(cycle_of_name("worker3-step4.json") == "step4");
  CHECK(cycle_of_name("worker3-rank1-step4.json") == "worker3-step4");
}

TEST_CASE("trace_name: time stamps are no part of the cycle") {
  CHECK(cycle_of_name("worker0_step_12.1694128201545.pt.trace.json.gz") == "step_12");
  CHECK(cycle_of_name("worker3_step_12.1694128201557.pt.trace.json.gz") == "step_12");
  CHECK(cycle_of_name("rank0-1694128201.json").empty());
  CHECK(cycle_of_name("1694128201545.7.rank0.1694128201545000.json") == "7");
  CHECK(cycle_of_name("a---1694128201-.-5.rank1.json") == "a-5");
  CHECK(cycle_of_name("ba169412820-rank0.json") == "ba169412820");
}
