// comm for kernels with few details of their own: it finds the details in the range of the host
// that launched them, in the ranks of their groups, and in the other end of a message.
#include "analysis/collectives/collectives.h"
#include "analysis/reports/reports.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

using Texts = std::vector<std::string>;

TraceText rank_trace(int rank) {
  return TraceText().composer_rank(rank, "1000");
}

// A range of torch, with the launch of a kernel in it.
void launch(TraceText& trace, const char* name, int at, int correlation, const char* tensors) {
  trace.tid("1").cat("user_annotation").x(name, at, 8, tensors);
  trace.cat("cuda_runtime")
      .x("cudaLaunchKernel", at + 2, 3, fmt::format(R"({{"correlation": {}}})", correlation));
}

void kernel(TraceText& trace, const char* name, int at, int length, int correlation) {
  trace.tid("7").cat("kernel").x(name, at, length,
                                 fmt::format(R"({{"correlation": {}}})", correlation));
}

Run read_ranks(const Texts& ranks) {
  std::vector<std::pair<std::string, std::string>> files;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    files.emplace_back(fmt::format("rank{}.json", i), ranks[i]);
  return read_texts(files);
}

std::string cell_text(const Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.3f}", *number);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "-";
}

// The cells of each row with these keys.
Texts rows_with(const Report& report, const Texts& keys) {
  Texts rows;
  for (const ReportRow& row : rows_of(report, "rows")) {
    std::string text;
    for (const std::string& key : keys)
      text += (text.empty() ? "" : " ") + cell_text(cell_in(row, key));
    rows.push_back(text);
  }
  return rows;
}

constexpr const char* kFloats = R"({"Input Dims": [[1000]], "Input type": ["float"]})";

std::string all_reduce(std::string_view group) {
  return fmt::format(R"({{"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000,)"
                     R"( "Out msg nelems": 1000, "Group size": 2, {}}})",
                     group);
}

std::string message(const char* name, const char* peer, int rank, std::string_view group) {
  return fmt::format(R"({{"Collective name": "{}", "dtype": "Float", "In msg nelems": 1000,)"
                     R"( "Out msg nelems": 1000, "Group size": 2, "{}": {}, {}}})",
                     name, peer, rank, group);
}

constexpr std::string_view kPair = R"("Process Group Name": "3", "Process Group Ranks": "[2, 5]")";

TraceText& of_rank(TraceText& trace, int rank) {
  trace.composer_rank(rank, "1000");
  return trace.cat("kernel");
}

}  // namespace

TEST_CASE("comm: a kernel that says no size has that of the operator that launched it") {
  const auto rank = [](int number, int late) {
    TraceText trace = rank_trace(number);
    launch(trace, "nccl:all_reduce", 0, 1, kFloats);
    launch(trace, "nccl:all_to_all", 20, 2,
           R"({"Input Dims": [[30, 2]], "Input type": ["c10::BFloat16"]})");
    launch(trace, "nccl:_all_gather_base", 40, 3, kFloats);
    kernel(trace, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", 100 + late, 20 - late, 1);
    kernel(trace, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8(ncclDevComm*)", 200 + late, 20 - late,
           2);
    kernel(trace, "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*)", 300 + late, 20 - late,
           3);
    return trace.array();
  };
  const Report report = comm_report(read_ranks({rank(0, 0), rank(1, 10)}), {});
  CHECK(rows_with(report, {"collective", "dtype", "bytes", "ranks", "latency_ns", "wait_ns",
                           "algo_gbps", "bus_gbps"}) ==
        Texts{"nccl:all_to_all BFloat16 120 2 10000 5000 0.012 0.006",
              "ncclKernel_AllGather_RING_LL_Sum_int8_t float 8000 2 10000 5000 0.800 0.400",
              "ncclKernel_AllReduce_RING_LL_Sum_float float 4000 2 10000 5000 0.400 0.400"});
  CHECK(report.notes ==
        Texts{"6 kernels do not say what they move: their bytes are those of the tensors that the "
              "operators which launched them were called with"});
}

// Two ranks of a trace of which only some events are left (hta-sampled-2r is such a one): the first
// all-to-all of one rank is not the first of the other.
TEST_CASE("comm: collectives of other tensors are not the same one, though each is the n-th") {
  const auto rank = [](int number, std::vector<std::pair<int, std::string>> steps_and_types) {
    TraceText trace = rank_trace(number);
    for (int step = 0; step < 2; ++step)
      trace.tid("1")
          .cat("user_annotation")
          .x(fmt::format("ProfilerStep#{}", step), 1000 * step, 900);
    int correlation = 0;
    for (const auto& [step, type] : steps_and_types) {
      const int at = 1000 * step + 10 * ++correlation;
      const std::string tensors =
          fmt::format(R"({{"Input Dims": [[1000]], "Input type": ["{}"]}})", type);
      launch(trace, "nccl:all_to_all", at, correlation, tensors.c_str());
      kernel(trace, "ncclKernel_SendRecv", at + 100, 20 + 10 * number, correlation);
    }
    return trace.array();
  };
  const Run run = read_ranks({rank(0, {{0, "long"}, {0, "int"}, {1, "int"}, {1, "float"}}),
                              rank(1, {{0, "int"}, {0, "float"}, {1, "long"}, {1, "int"}})});
  CHECK(rows_with(comm_report(run, {}), {"dtype", "ranks", "count", "wait_ns"}) ==
        Texts{"float 1 2 -", "int 2 2 5000", "long 1 2 -"});
  const MatchedCollectives found = match_collectives(run);
  CHECK(found.matched.size() == 2);
  CHECK(found.left_over == 4);
  // The ranks have the same collectives: the n-th of one is the n-th of the other, whatever their
  // steps.
  const MatchedCollectives same = match_collectives(
      read_ranks({rank(0, {{0, "long"}, {1, "int"}}), rank(1, {{1, "long"}, {1, "int"}})}));
  CHECK(same.matched.size() == 2);
  CHECK(same.left_over == 0);
}

TEST_CASE("comm: without the call the External id leads to the operator") {
  TraceText trace = rank_trace(0);
  trace.cat("user_annotation")
      .x("nccl:all_reduce", 0, 8,
         R"({"External id": 17, "Input Dims": [[1000]], "Input type": ["float"]})");
  trace.tid("7").cat("kernel").x("ncclKernel_AllReduce", 100, 20, R"({"External id": 17})");
  trace.x("ncclKernel_AllReduce", 200, 20, R"({"External id": 18})");
  const Report report = comm_report(read_ranks({trace.array()}), {});
  CHECK(rows_with(report, {"bytes", "algo_gbps"}) == Texts{"- -", "4000 0.200"});
}

TEST_CASE("comm: kernels that share an operator have no bytes, and that is said") {
  TraceText trace = rank_trace(0);
  launch(trace, "nccl:all_reduce", 0, 1, kFloats);
  launch(trace, "nccl:all_reduce", 20, 2, kFloats);
  kernel(trace, "ncclKernel_AllReduce", 100, 20, 1);
  kernel(trace, "ncclKernel_AllReduce", 120, 20, 1);
  kernel(trace, "ncclKernel_AllReduce", 200, 20, 2);
  const Report report = comm_report(read_ranks({trace.array()}), {});
  CHECK(rows_with(report, {"bytes", "count", "algo_gbps"}) == Texts{"- 2 -", "4000 1 0.200"});
  CHECK(report.notes.at(1) ==
        "2 kernels share the operator that launched them with others: how its bytes are shared out "
        "is not known, so they have none");
}

TEST_CASE("comm: what a kernel says of itself stands before what its operator says") {
  TraceText trace = rank_trace(0);
  launch(trace, "nccl:all_reduce", 0, 1, R"({"Input Dims": [[7]], "Input type": ["double"]})");
  trace.tid("7").cat("kernel").x(
      "ncclDevKernel_Generic", 100, 20,
      R"({"correlation": 1, "Collective name": "allreduce", "dtype": "Float",)"
      R"( "In msg nelems": 10})");
  const Report report = comm_report(read_ranks({trace.array()}), {});
  CHECK(rows_with(report, {"collective", "dtype", "bytes"}) == Texts{"allreduce Float 40"});
  CHECK(report.notes.empty());
}

TEST_CASE("comm: groups of one name are told apart by their ranks and what they are for") {
  const auto rank = [](int number, int length) {
    TraceText trace;
    of_rank(trace, number);
    const char* const ranks = number < 2 ? "[0, 1]" : "[2, 3]";
    trace.x("ncclX", 0, length,
            all_reduce(fmt::format(R"("Process Group Name": "2", "Process Group Description":)"
                                   R"( "TENSOR", "Process Group Ranks": "{}", "Seq": 0)",
                                   ranks)));
    trace.x("ncclX", 1000, 50,
            all_reduce(R"("Process Group Name": "2", "Process Group Description": "DATA",)"
                       R"( "Process Group Ranks": "[0, 1, 2, 3]", "Seq": 0)"));
    return trace.array();
  };
  const Run run = read_ranks({rank(0, 60), rank(1, 60), rank(2, 300), rank(3, 300)});
  const MatchedCollectives found = match_collectives(run);
  CHECK(found.left_over == 0);
  CHECK(found.matched.size() == 3);
  const Report report = comm_report(run, {});
  CHECK(rows_with(report,
                  {"group", "group_description", "group_ranks", "ranks", "count", "latency_ns"}) ==
        Texts{"2 DATA [0, 1, 2, 3] 4 1 50000", "2 TENSOR [0, 1] 2 1 60000",
              "2 TENSOR [2, 3] 2 1 300000"});
}

TEST_CASE("comm: a receive takes as long as data moves, not as long as it waits for it") {
  // The other rank by its number among all, or by its place in the group.
  for (const bool by_place : {false, true}) {
    CAPTURE(by_place);
    TraceText sender;
    TraceText receiver;
    of_rank(sender, 2).x("ncclX", 80, 20, message("send", "Dst Rank", by_place ? 1 : 5, kPair));
    of_rank(receiver, 5).x("ncclX", 0, 100, message("recv", "Src Rank", by_place ? 0 : 2, kPair));
    // The second one waits for its receiver.
    sender.x("ncclX", 200, 90, message("send", "Dst Rank", by_place ? 1 : 5, kPair));
    receiver.x("ncclX", 250, 40, message("recv", "Src Rank", by_place ? 0 : 2, kPair));
    const Report report = comm_report(read_ranks({sender.array(), receiver.array()}), {});
    CHECK(rows_with(report, {"collective", "bytes", "ranks", "count", "latency_ns", "wait_ns",
                             "algo_gbps"}) ==
          Texts{"recv 4000 1 2 30000 40000 0.133", "send 4000 1 2 30000 25000 0.133"});
    CHECK(report.notes.empty());
  }
}

TEST_CASE("comm: a message that goes through a buffer has no bandwidth") {
  TraceText sender;
  TraceText receiver;
  of_rank(sender, 2).x("ncclX", 0, 20, message("send", "Dst Rank", 5, kPair));
  of_rank(receiver, 5).x("ncclX", 50, 30, message("recv", "Src Rank", 2, kPair));
  const Report report = comm_report(read_ranks({sender.array(), receiver.array()}), {});
  CHECK(rows_with(report, {"collective", "bytes", "latency_ns", "algo_gbps", "bus_gbps"}) ==
        Texts{"recv 4000 30000 - -", "send 4000 20000 - -"});
  CHECK(report.notes ==
        Texts{"2 sends and receives go through a buffer (senders leave before receivers come): "
              "their latency is that of a copy, and they have no bandwidth"});
}

TEST_CASE("comm: a batch of messages is no collective, though ranks have the same Seq") {
  const auto rank = [](int number, int batches) {
    TraceText trace;
    of_rank(trace, number);
    for (int seq = 0; seq < batches; ++seq)
      trace.x("ncclDevKernel_SendRecv(x)", 100 * seq, 20,
              fmt::format(R"({{"Collective name": "coalesced", "Group size": 2, "Seq": {}, {}}})",
                          seq, kPair));
    return trace.array();
  };
  const Run run = read_ranks({rank(2, 2), rank(5, 3)});
  const MatchedCollectives found = match_collectives(run);
  CHECK(found.matched.empty());
  CHECK(found.left_over == 0);
  CHECK(found.lone_messages == 5);
  CHECK(rows_with(comm_report(run, {}), {"collective", "ranks", "count", "wait_ns"}) ==
        Texts{"coalesced send/recv 1 5 -"});
}

TEST_CASE("comm: of a message whose other end is not known there is no bandwidth") {
  TraceText receiver;
  of_rank(receiver, 5).x("ncclX", 0, 100, message("recv", "Src Rank", 2, kPair));
  receiver.x("ncclDevKernel_SendRecv", 200, 10);
  const Report report = comm_report(read_ranks({receiver.array()}), {});
  CHECK(rows_with(report, {"collective", "bytes", "latency_ns", "wait_ns", "algo_gbps"}) ==
        Texts{"ncclDevKernel_SendRecv - 10000 - -", "recv 4000 100000 - -"});
  CHECK(report.notes.at(0) ==
        "of 2 sends and receives the other end is not known: their latency is all of their time, "
        "waiting too, and they have no bandwidth");
}

TEST_CASE("comm: a lost receive shifts those of its step alone") {
  TraceText sender;
  TraceText receiver;
  of_rank(sender, 2).cat("user_annotation");
  of_rank(receiver, 5).cat("user_annotation");
  for (int step = 0; step < 3; ++step) {
    const int at = 1000 * step;
    sender.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 900);
    receiver.cat("user_annotation").x(fmt::format("ProfilerStep#{}", step), at, 900);
    sender.cat("kernel").x("ncclX", at + 100, 10 + step, message("send", "Dst Rank", 5, kPair));
    if (step != 1)
      receiver.cat("kernel").x("ncclX", at + 50, 60 + step, message("recv", "Src Rank", 2, kPair));
  }
  const MatchedCollectives found =
      match_collectives(read_ranks({sender.array(), receiver.array()}));
  CHECK(found.lone_messages == 1);
  std::vector<std::int64_t> transfers;
  for (const Collective& what : found.single)
    if (what.transfer_ns) transfers.push_back(*what.transfer_ns);
  CHECK(transfers == std::vector<std::int64_t>{10'000, 10'000, 12'000, 12'000});
}

TEST_CASE("comm: what comes out of a gather and how many ranks are in it the operator says") {
  TraceText trace = rank_trace(0);
  const auto op = [&](const char* name, int at, const char* tensors) {
    trace.tid("1").cat("cpu_op").x(name, at, 10, tensors);
  };
  op("c10d::_allgather_base_", 0,
     R"({"Input Dims": [[80, 64], [10, 64], []], "Input type": ["float", "float", ""]})");
  launch(trace, "nccl:_all_gather_base", 1, 1,
         R"({"Input Dims": [[10, 64]], "Input type": ["float"]})");
  op("c10d::_reduce_scatter_base_", 20,
     R"({"Input Dims": [[10], [80], [], [], []], "Input type": ["float", "float", "", "", ""]})");
  launch(trace, "nccl:_reduce_scatter_base", 21, 2, "{}");
  // The same holds without the range, and for two kernels that share an operator.
  op("c10d::alltoall_base_", 40,
     R"({"Input Dims": [[30], [20], []], "Input type": ["long", "long", ""]})");
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 42, 3, R"({"correlation": 3})");
  op("c10d::allreduce_", 60, R"({"Input Dims": [[1000], []], "Input type": ["float", ""]})");
  launch(trace, "nccl:all_reduce", 61, 4, "{}");
  trace.cat("cuda_runtime").x("cudaLaunchKernel", 67, 1, R"({"correlation": 5})");
  kernel(trace, "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*)", 100, 20, 1);
  kernel(trace, "ncclKernel_ReduceScatter_RING_LL_Sum_float(ncclDevComm*)", 200, 20, 2);
  kernel(trace, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", 300, 20, 3);
  kernel(trace, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", 400, 20, 4);
  kernel(trace, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", 500, 20, 5);
  const Report report = comm_report(read_ranks({trace.array()}), {});
  CHECK(rows_with(report, {"collective", "dtype", "bytes", "algo_gbps", "bus_gbps"}) ==
        Texts{"c10d::alltoall_base_ long 160 0.008 -",
              "ncclKernel_AllGather_RING_LL_Sum_int8_t float 20480 1.024 0.896",
              "ncclKernel_AllReduce_RING_LL_Sum_float - - - -",
              "ncclKernel_ReduceScatter_RING_LL_Sum_float float 320 0.016 0.014"});
  CHECK(report.notes.at(1).starts_with("2 kernels share the operator that launched them"));
}

TEST_CASE("comm: one rank's operator says what comes out of a gather for all of them") {
  const auto rank = [](int number, bool has_op) {
    TraceText trace = rank_trace(number);
    if (has_op)
      trace.cat("cpu_op").x(
          "c10d::_allgather_base_", 0, 20,
          R"({"Input Dims": [[2000], [1000]], "Input type": ["float", "float"]})");
    launch(trace, "nccl:_all_gather_base", 1, 1, kFloats);
    kernel(trace, "ncclKernel_AllGather", 100, 20, 1);
    return trace.array();
  };
  for (const bool first : {false, true})
    CHECK(rows_with(comm_report(read_ranks({rank(0, first), rank(1, !first)}), {}),
                    {"bytes", "ranks"}) == Texts{"8000 2"});
}

TEST_CASE("comm: a range of the host that only starts a collective has no bandwidth") {
  const auto rank = [](int number) {
    return rank_trace(number)
        .cat("user_annotation")
        .x("nccl:all_reduce", 0, 10 + number, kFloats)
        .x("gloo:all_reduce", 100, 10, kFloats)
        .array();
  };
  const Report report = comm_report(read_ranks({rank(0), rank(1)}), {.each = true});
  CHECK(rows_with(report, {"collective", "bytes", "latency_ns", "algo_gbps", "bus_gbps"}) ==
        Texts{"gloo:all_reduce 4000 10000 0.400 0.400", "nccl:all_reduce 4000 10000 - -"});
  CHECK(std::holds_alternative<std::monostate>(
      cell_in(rows_of(report, "collectives").at(0), "bus_gibps")));
  const std::vector<ReportRow> times = rows_of(report, "times");
  REQUIRE(times.size() == 6);
  CHECK(cell_text(cell_in(times[0], "transfer_ns")) == "-");
  CHECK(cell_text(cell_in(times[1], "transfer_ns")) == "10000");
  CHECK(cell_text(cell_in(times[2], "transfer_ns")) == "-");
  CHECK(cell_text(cell_in(times[2], "waiting_ns")) == "-");
  CHECK(report.notes.at(0) ==
        "2 collectives were recorded on the host alone, which only starts them: their times are "
        "those of the calls, and they have no bandwidth");
}

TEST_CASE("comm: Ascend's collectives move what their type and count say") {
  const auto rank = [](int number) {
    TraceText trace = rank_trace(number);
    trace.pid("800").tid("0").m("process_name", R"({"name": "HCCL"})");
    trace.m("thread_name", R"({"name": "Group 0 Communication"})");
    const auto moves = [](const char* type, int count) {
      return fmt::format(R"({{"connection_id": 7, "data_type": "{}", "count": {}}})", type, count);
    };
    trace.x("hcom_allReduce__123_0_1", 0, 20 + number, moves("FP16", 1000));
    trace.x("hcom_broadcast__123_1_1", 100, 20, moves("FP32", 1000));
    trace.x("hcom_allGather__123_2_1", 200, 20, moves("BFP16", 1000));
    trace.x("hcom_reduceScatter__123_3_1", 300, 20, moves("INT8", 1000));
    trace.x("hcom_alltoall__123_4_1", 400, 20, moves("INT64", 1000));
    trace.x("hcom_allReduce__123_5_1", 500, 20, moves("RESERVED", 1000));
    trace.x("hcom_receive__123_6_1", 600, 20, moves("FP16", 10));
    return trace.array();
  };
  const Report report = comm_report(read_ranks({rank(0), rank(1)}), {});
  CHECK(rows_with(report, {"collective", "dtype", "bytes", "algo_gbps", "bus_gbps"}) ==
        Texts{"hcom_allGather__123 BFP16 4000 0.200 0.100",
              "hcom_allReduce__123 FP16 2000 0.100 0.100", "hcom_allReduce__123 RESERVED - - -",
              "hcom_alltoall__123 INT64 - - -", "hcom_broadcast__123 FP32 4000 0.200 0.200",
              "hcom_receive__123 FP16 20 - -", "hcom_reduceScatter__123 INT8 2000 0.100 0.050"});
  CHECK(report.notes.at(0) ==
        "of 2 collectives of Ascend it is not certain what their count is of: they have no bytes");
}

TEST_CASE("comm: a kernel without words of its own is called by its function") {
  TraceText trace = rank_trace(0);
  trace.cat("kernel").x(
      "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
      0, 10);
  CHECK(rows_with(comm_report(read_ranks({trace.array()}), {}), {"collective"}) ==
        Texts{"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>"});
}
