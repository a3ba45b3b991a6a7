// The mesh of a job: from descriptions, from what happens in groups, and from sizes that are given.
#include "analysis/mesh/mesh.h"

#include "analysis/collectives/collectives.h"
#include "analysis/mesh/pipeline.h"
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace traceloom;

namespace {

using RankList = std::vector<int>;

struct Group {
  const char* name;
  const char* description;
  RankList ranks;
};

std::string header(int rank, int world, const std::vector<Group>& groups) {
  std::vector<std::string> config;
  for (const Group& group : groups)
    config.push_back(fmt::format(R"({{"pg_name": "{}", "pg_desc": "{}", "ranks": [{}]}})",
                                 group.name, group.description, fmt::join(group.ranks, ", ")));
  return fmt::format(
      R"("distributedInfo": {{"rank": {}, "world_size": {}, "pg_config": [{}]}}, "host_name": "n{}")",
      rank, world, fmt::join(config, ", "), rank / 4);
}

// A kernel of communication in a group.
std::string piece(const char* collective, const Group& group, const char* more = "") {
  return fmt::format(R"({{"stream": 20, "Collective name": "{}", "In msg nelems": 1000,)"
                     R"( "dtype": "Float", "Group size": {}, "Process Group Name": "{}",)"
                     R"( "Process Group Description": "{}", "Process Group Ranks": "[{}]"{}}})",
                     collective, group.ranks.size(), group.name, group.description,
                     fmt::join(group.ranks, ", "), more);
}

using Files = std::vector<std::pair<std::string, std::string>>;

void add_file(Files& files, int rank, const std::string& text) {
  files.emplace_back(fmt::format("rank{}.json", rank), text);
}

std::string places(const Mesh& mesh) {
  std::string text;
  for (const auto& [rank, place] : mesh.places)
    text += fmt::format("{}{}:{}{}{}{}{}", text.empty() ? "" : " ", rank, place.tensor,
                        place.context, place.expert, place.data, place.stage);
  return text;
}

std::string sizes(const Mesh& mesh) {
  return fmt::format("tp{} cp{} ep{} dp{} pp{} of {}", mesh.tensor, mesh.context, mesh.expert,
                     mesh.data, mesh.stages, mesh.world);
}

// Ranks 0 and 1 are tensor parallel, 0 and 2 are replicas, 0 and 4 are stages.
const std::vector<Group> kCube{
    {"0", "default_pg", {0, 1, 2, 3, 4, 5, 6, 7}}, {"1", "DATA_PARALLEL_GROUP", {0, 2}},
    {"2", "TENSOR_MODEL_PARALLEL_GROUP", {0, 1}},  {"3", "PIPELINE_MODEL_PARALLEL_GROUP", {0, 4}},
    {"4", "EXPERT_MODEL_PARALLEL_GROUP", {0, 2}},  {"5", "EMBEDDING_GROUP", {0, 4}},
    {"6", "MODEL_PARALLEL_GROUP", {0, 1, 4, 5}}};

}  // namespace

TEST_CASE("mesh: the groups of one header give the place of each rank") {
  Files files;
  add_file(files, 0, TraceText().x("a", 0, 5).object(header(0, 8, kCube)));
  const Run run = read_texts(files);
  const Mesh& mesh = find_mesh(run);
  CHECK(sizes(mesh) == "tp2 cp1 ep2 dp2 pp2 of 8");
  CHECK(places(mesh) == "0:00000 1:10000 2:00110 3:10110 4:00001 5:10001 6:00111 7:10111");
  CHECK(mesh.missing == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7});
  CHECK(mesh.source == "the descriptions of process groups");
  CHECK(mesh.doubts.empty());
  CHECK(mesh.splits_model());
}

TEST_CASE("mesh: torch lists no ranks for a group of all of them, and names dimensions") {
  Files files;
  add_file(files, 0,
           TraceText().x("a", 0, 5).object(header(0, 4,
                                                  {{"0", "default_pg", {}},
                                                   {"1", "mesh_dp_replicate", {0, 2}},
                                                   {"2", "mesh_dp_shard", {0, 1}}})));
  add_file(files, 3,
           TraceText().x("a", 0, 5).object(header(3, 4,
                                                  {{"0", "default_pg", {}},
                                                   {"3", "mesh_dp_replicate", {1, 3}},
                                                   {"4", "mesh_dp_shard", {2, 3}}})));
  const Run run = read_texts(files);
  const Mesh& mesh = find_mesh(run);
  CHECK(sizes(mesh) == "tp1 cp1 ep1 dp4 pp1 of 4");
  CHECK(places(mesh) == "0:00000 1:00010 2:00020 3:00030");
  CHECK_FALSE(mesh.splits_model());
}

TEST_CASE("mesh: data parallel groups with context parallel ranks have both axes") {
  Files files;
  add_file(files, 0,
           TraceText().x("a", 0, 5).object(
               header(0, 4,
                      {{"1", "CONTEXT_PARALLEL_GROUP", {0, 1}},
                       {"2", "DATA_PARALLEL_GROUP_WITH_CP", {0, 1, 2, 3}}})));
  const Run run = read_texts(files);
  const Mesh& mesh = find_mesh(run);
  CHECK(sizes(mesh) == "tp1 cp2 ep1 dp2 pp1 of 4");
  CHECK(places(mesh) == "0:00000 1:01000 2:00010 3:01010");
}

TEST_CASE("mesh: what is no product is said") {
  Files files;
  add_file(
      files, 0,
      TraceText().x("a", 0, 5).object(header(
          0, 6, {{"1", "mesh_tp", {0, 1}}, {"2", "mesh_tp", {1, 2}}, {"3", "mesh_pp", {0, 5}}})));
  const Run run = read_texts(files);
  const Mesh& mesh = find_mesh(run);
  CHECK(mesh.doubts == std::vector<std::string>{"rank 1 is in two tp groups: [0, 1] and [1, 2]",
                                                "ranks 1-5 are not in a group along each axis"});
}

TEST_CASE("mesh: sizes that a user gives override the traces") {
  Files files;
  add_file(files, 0, TraceText().x("a", 0, 5).object(header(0, 8, kCube)));
  const Run run = read_texts(files, {.mesh_sizes = {.tensor = 1, .expert = 2, .stages = 2}});
  const Mesh& mesh = find_mesh(run);
  CHECK(sizes(mesh) == "tp1 cp1 ep2 dp4 pp2 of 8");
  CHECK(mesh.source == "--mesh");
  CHECK(mesh.place_of(5)->stage == 1);
  CHECK(mesh.place_of(5)->data == 1);
  const Run other = read_texts(files, {.mesh_sizes = {.tensor = 3}});
  CHECK_THROWS_WITH(find_mesh(other),
                    "--mesh: tp 3 x cp 1 x dp 2 x pp 1 are 6 ranks, and the job has 8 ranks: give "
                    "sizes whose product is that");
}

TEST_CASE("mesh: what happens in groups without a description") {
  // Two stages of two tensor parallel ranks; each layer has an all-reduce after its kernel.
  Files files;
  for (int rank = 0; rank < 4; ++rank) {
    const Group tensor{"t", "undefined", rank < 2 ? RankList{0, 1} : RankList{2, 3}};
    const Group stages{"p", "undefined", rank % 2 == 0 ? RankList{0, 2} : RankList{1, 3}};
    TraceText trace;
    trace.cat("user_annotation").x("ProfilerStep#1", 0, 200).cat("kernel");
    for (int layer = 0; layer < 4; ++layer) {
      trace.x("gemm", 10 + 40 * layer, 20, R"({"stream": 7})");
      trace.x("ncclDevKernel_AllReduce", 31 + 40 * layer, 5, piece("allreduce", tensor));
    }
    const std::string peer =
        fmt::format(R"(, "{} Rank": {})", rank < 2 ? "Dst" : "Src", rank < 2 ? rank + 2 : rank - 2);
    trace.x("ncclDevKernel_SendRecv", 180, 10,
            piece(rank < 2 ? "send" : "recv", stages, peer.c_str()));
    add_file(
        files, rank,
        trace.object(fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 4}})", rank)));
  }
  const Run run = read_texts(files);
  const Mesh& mesh = find_mesh(run);
  CHECK(sizes(mesh) == "tp2 cp1 ep1 dp1 pp2 of 4");
  CHECK(mesh.source == "what happens in process groups");
  CHECK(places(mesh) == "0:00000 1:10000 2:00001 3:10001");
  CHECK(find_chunks(run, mesh) == 0);  // nothing says which way the messages of two stages go
}

TEST_CASE("messages: batches of a pipeline exchange with the stage that the kernel before tells") {
  // Three stages, one step. The middle stage sends a forward result in one batch, and a backward
  // one in another; each batch also receives from that stage.
  const Group stages{"p", "PIPELINE_MODEL_PARALLEL_GROUP", {0, 1, 2}};
  std::vector<TraceText> traces(3);
  std::vector<int> correlations(3, 0);
  const auto compute = [&](int rank, const char* name, int at) {
    traces[rank].cat("kernel").x(
        name, at, 10, fmt::format(R"({{"stream": 7, "correlation": {}}})", ++correlations[rank]));
  };
  const auto exchange = [&](int rank, const char* name, int at, int length, std::string end = "") {
    end += fmt::format(R"(, "correlation": {})", ++correlations[rank]);
    traces[rank].cat("kernel").x("ncclDevKernel_SendRecv", at, length,
                                 piece(name, stages, end.c_str()));
  };
  const auto to = [](int rank) { return fmt::format(R"(, "Dst Rank": {})", rank); };
  const auto from = [](int rank) { return fmt::format(R"(, "Src Rank": {})", rank); };
  compute(0, "forward", 0);
  exchange(0, "send", 10, 10, to(1));
  compute(0, "forward", 20);
  exchange(0, "coalesced", 30, 70);  // sends forward, receives backward
  exchange(1, "recv", 5, 15, from(0));
  compute(1, "forward", 20);
  exchange(1, "send", 30, 10, to(2));
  exchange(1, "recv", 50, 10, from(2));
  compute(1, "backward", 60);
  exchange(1, "coalesced", 90, 10);  // sends backward, receives forward
  compute(1, "forward", 100);
  exchange(1, "coalesced", 110, 30);  // sends forward, receives backward
  compute(1, "backward", 140);
  exchange(1, "send", 150, 10, to(0));
  exchange(0, "recv", 120, 40, from(1));
  exchange(2, "recv", 30, 10, from(1));
  compute(2, "backward", 40);
  exchange(2, "send", 50, 10, to(1));
  compute(2, "backward", 120);
  exchange(2, "coalesced", 130, 10);
  Files files;
  for (int rank = 0; rank < 3; ++rank)
    add_file(files, rank,
             traces[rank].object(
                 fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 3}})", rank)));
  const Run run = read_texts(files);
  const MatchedCollectives& found = match_collectives(run);
  std::string text;
  for (const Message& message : found.messages)
    text += fmt::format("{}>{} {} {}{}\n", message.from, message.to, message.transfer_ns,
                        message.way == MessageWay::forward ? "F" : "B",
                        message.is_inferred ? " inferred" : "");
  CHECK(text ==
        "0>1 10000 F inferred\n"
        "0>1 10000 F inferred\n"
        "1>2 10000 F inferred\n"
        "2>1 10000 B inferred\n"
        "1>0 10000 B inferred\n"
        "1>2 10000 F inferred\n"
        "2>1 10000 B inferred\n"
        "1>0 10000 B inferred\n");
  CHECK(found.lone_messages == 0);
}
