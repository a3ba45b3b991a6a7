#include "analysis/collectives/collectives.h"
#include "analysis/reports/reports.h"
#include "analysis/work/work_names.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

std::string reduce(int seq) {
  return fmt::format(
      R"({{"Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 1000,)"
      R"( "Out msg nelems": 1000, "Group size": 2, "Process Group Name": "0",)"
      R"( "Seq": {}}})",
      seq);
}

TraceText trace_of_rank(int rank) {
  TraceText trace;
  trace.composer_rank(rank, "1000");
  trace.cat("kernel");
  return trace;
}

Run read(const std::string& rank0, const std::string& rank1) {
  return read_texts({{"rank0.json", rank0}, {"rank1.json", rank1}}, {.details = true});
}

}  // namespace

TEST_CASE("kernels: rows have the times of a name, and add up to all") {
  const Run run = read_texts({{"rank0.json", TraceText()
                                                 .cat("kernel")
                                                 .x("gemm", 0, 30)
                                                 .x("gemm", 40, 50)
                                                 .x("add", 100, 5)
                                                 .cat("gpu_memcpy")
                                                 .x("Memcpy HtoD", 0, 500)
                                                 .array()}});
  const Report report = kernels_report(run, {});
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  REQUIRE(rows.size() == 2);
  CHECK(text_in(rows[0], "name") == "gemm");
  CHECK(number_in(rows[0], "total_ns") == 80'000);
  CHECK(number_in(rows[0], "p50_ns") == 30'000);
  CHECK(number_in(rows[0], "max_ns") == 50'000);
  CHECK(share_in(rows[0], "share") + share_in(rows[1], "share") == doctest::Approx(1));
  CHECK(report.values.at(0).second ==
        R"({"kernels":3,"total_ns":85000,"short_share":0.3333333333333333,)"
        R"("short_time_share":0.058823529411764705,"tensor_core_share":null,)"
        R"("tensor_core_unknown_share":1,)"
        R"("tensor_core_eligible_share":0,"not_launched_ns":85000})");
}

TEST_CASE("kernels: rows may be told apart by operator, launch configuration and rank") {
  const Run run = read_texts(
      {{"rank0.json", TraceText()
                          .cat("cpu_op")
                          .x("aten::mm", 0, 20)
                          .cat("cuda_runtime")
                          .x("cudaLaunchKernel", 5, 5, R"({"correlation": 7})")
                          .cat("kernel")
                          .x("gemm", 30, 10,
                             R"({"correlation": 7, "grid": [4, 1, 1], "registers per thread": 32})")
                          .x("gemm", 50, 20,
                             R"({"correlation": 8, "grid": [8, 1, 1], "registers per thread": 32})")
                          .array()}},
      {.details = true});
  const std::vector<ReportRow> rows = rows_of(
      kernels_report(run, {.by_operator = true, .by_launch = true, .by_rank = true}), "rows");
  REQUIRE(rows.size() == 2);
  CHECK(text_in(rows[1], "op") == "aten::mm");
  CHECK(text_in(rows[1], "grid") == "[4, 1, 1]");
  CHECK(number_in(rows[1], "registers") == 32);
  CHECK(std::holds_alternative<std::monostate>(cell_in(rows[0], "op")));
}

TEST_CASE("kernels: tensor cores are told by the name") {
  CHECK(uses_tensor_cores("volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn"));
  CHECK(uses_tensor_cores("sm90_xmma_gemm_bf16bf16_bf16f32"));
  CHECK(uses_tensor_cores("volta_sgemm_64x64_tn") == false);
  CHECK(uses_tensor_cores("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_ffma_aligna4") ==
        false);
  for (const char* const kernel :
       {"nvjet_tst_64x64_64x16_2x1_2cta_v_bz_bias_TNT", "sm90_wgmma_gemm",
        "void cutlass::device_kernel<flash::FlashAttnFwd<float>>(x)",
        "void flash::compute_attn_ws<Flash_fwd_kernel_traits<192, 128> >(x)",
        "void cutlass::device_kernel<dpsk::grouped_gemm::cuda::fp8_ptp128c::GemmKernel>(x)",
        "kernel_batched_gemm_xdlops_bwd_weight", "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32",
        "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT320x224x64_MI16x16x1_SN_LDSB0"})
    CHECK(uses_tensor_cores(kernel) == true);
  for (const char* const kernel :
       {"SubTensorOpWithScalar1d", "SubTensorOpWithCastTensor1d", "batched_transpose_32x32_half",
        "void at::native::vectorized_elementwise_kernel<4>(x)",
        "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1", "ncclDevKernel_AllReduce_Sum_f32",
        "void cuda::per_token_cast_to_fp8_with_channels<128>(x)::elementwise",
        "void cutlass::device_kernel<flash::FlashAttnBwdPreprocess<float>>(x)",
        "void cutlass::device_kernel<flash::FlashAttnBwdPostprocessConvertdQ<float>>(x)",
        "void flash_bwd_dot_do_o_kernel<true>(x)", "void flash_fwd_splitkv_combine_kernel<4>(x)"})
    CHECK(uses_tensor_cores(kernel) == false);
  for (const char* const kernel : {"attn_fwd", "_matmul_ogs_NNT_bf16xbf16xmxfp4", "gemm", "x"})
    CHECK_FALSE(uses_tensor_cores(kernel).has_value());
}

TEST_CASE("ops: what has no device activity is told by its host times") {
  const Run run = read_texts(
      {{"rank0.json", TraceText().cat("cpu_op").x("aten::a", 0, 50).x("aten::b", 10, 30).array()}},
      {.details = true});
  const Report report = ops_report(run, {});
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  CHECK(text_in(rows.at(0), "name") == "aten::b");
  CHECK(number_in(rows.at(1), "host_self_ns") == 20'000);
  CHECK(std::holds_alternative<std::monostate>(cell_in(rows[0], "device_share")));
  CHECK(report.notes.at(0) == "no device activity that an operator launched: host times only");
}

TEST_CASE("comm: a collective is matched by its Seq, also where a rank has lost one") {
  const Run run =
      read(trace_of_rank(0).x("ncclX", 0, 30, reduce(1)).x("ncclX", 50, 20, reduce(2)).array(),
           trace_of_rank(1).x("ncclX", 60, 10, reduce(2)).array());
  const MatchedCollectives found = match_collectives(run);
  REQUIRE(found.matched.size() == 1);
  CHECK(found.matched[0].latency_ns() == 10'000);
  CHECK(found.matched[0].wait_ns(found.matched[0].parts[0]) == 10'000);
  CHECK(found.matched[0].bytes == 2000);
  CHECK(found.matched[0].bus_gbps() == doctest::Approx(0.2));
  CHECK(found.single.size() == 1);
  CHECK(found.left_over == 1);
}

TEST_CASE("comm: without Seq the order among those that are alike counts") {
  const Run run =
      read(trace_of_rank(0).x("ncclA", 0, 30).x("ncclB", 40, 5).x("ncclA", 50, 20).array(),
           trace_of_rank(1).x("ncclA", 10, 20).x("ncclA", 60, 10).array());
  const MatchedCollectives found = match_collectives(run);
  REQUIRE(found.matched.size() == 2);
  CHECK(found.matched[1].latency_ns() == 10'000);
  CHECK(found.single.size() == 1);
}

TEST_CASE("comm: with a Seq the ranks of a collective may send different amounts") {
  const auto exchange = [](int elements) {
    return fmt::format(
        R"({{"Collective name": "all_to_allv", "dtype": "Float", "In msg nelems": {},)"
        R"( "Process Group Name": "0", "Seq": 4}})",
        elements);
  };
  const Run run = read(trace_of_rank(0).x("ncclX", 0, 30, exchange(10)).array(),
                       trace_of_rank(1).x("ncclX", 5, 20, exchange(1000)).array());
  const MatchedCollectives found = match_collectives(run);
  REQUIRE(found.matched.size() == 1);
  CHECK(found.matched[0].bytes == 4000);
  CHECK(found.left_over == 0);
}

TEST_CASE("comm: a Seq without its group says nothing") {
  const Run run = read(trace_of_rank(0).x("ncclX", 0, 30, R"({"Seq": 7})").array(),
                       trace_of_rank(1).x("ncclX", 5, 20, R"({"Seq": 9})").array());
  CHECK(match_collectives(run).matched.size() == 1);
}

TEST_CASE("comm: args that make no sense are as if they were missing") {
  const std::string bad =
      R"({"Collective name": null, "dtype": "Double", "In msg nelems": 9223372036854775807,)"
      R"( "Process Group Name": null, "Group size": -3, "Seq": "x"})";
  const Run run = read(trace_of_rank(0).x("ncclX", 0, 30, bad).array(),
                       trace_of_rank(1).x("ncclX", 5, 20, bad).array());
  const MatchedCollectives found = match_collectives(run);
  REQUIRE(found.matched.size() == 1);
  CHECK(found.matched[0].name == "ncclX");
  CHECK(found.matched[0].group.empty());
  CHECK(found.matched[0].bytes == 0);
  CHECK(found.matched[0].bus_gbps() == 0);
}

TEST_CASE("comm: a collective is complete when all ranks of its group have it") {
  const Run run =
      read(trace_of_rank(0).x("ncclX", 0, 30, reduce(1)).x("ncclX", 50, 20, reduce(2)).array(),
           trace_of_rank(1).x("ncclX", 60, 10, reduce(2)).array());
  const MatchedCollectives found = match_collectives(run);
  CHECK(found.matched.at(0).complete);
  CHECK_FALSE(found.single.at(0).complete);
}

TEST_CASE("comm: who is last is told by starts, and sends are not matched") {
  const Run run = read(trace_of_rank(0).x("ncclX", 0, 30).x("ncclSendRecv", 50, 5).array(),
                       trace_of_rank(1).x("ncclX", 25, 5).x("ncclSendRecv", 50, 5).array());
  const Report report = comm_report(run, {});
  const std::vector<ReportRow> ranks = rows_of(report, "ranks");
  CHECK(number_in(ranks.at(1), "times_last") == 1);
  CHECK(number_in(ranks.at(0), "total_wait_ns") == 25'000);
  CHECK(number_in(ranks.at(0), "collectives") == 1);
  CHECK(rows_of(report, "rows").size() == 2);
}

TEST_CASE("comm: nothing to match is said") {
  const Report report = comm_report(read_texts({{"rank0.json", "[]"}}), {});
  CHECK(report.notes.at(0) == "no collectives in these traces");
}

TEST_CASE("comm: transfers are what is left when all have come, each instant counted once") {
  const std::string dims = R"({"Input Dims": [[2, 3], []], "Input type": ["float", "Int"]})";
  const auto rank = [&](int number, int start) {
    return trace_of_rank(number)
        .cat("cpu_op")
        .x("gloo:all_reduce", start, 30 - start, dims)
        .tid("2")
        .x("gloo:broadcast", 20, 20, dims)
        .array();
  };
  const Report report = comm_report(read(rank(0, 0), rank(1, 18)), {});
  const std::vector<ReportRow> rows = rows_of(report, "times");
  REQUIRE(rows.size() == 6);
  CHECK(text_in(rows[0], "collective") == "(all)");
  CHECK(number_in(rows[0], "count") == 2);
  CHECK(number_in(rows[0], "bytes") == 48);
  CHECK(number_in(rows[0], "busy_ns") == 40'000);
  CHECK(number_in(rows[0], "transfer_ns") == 22'000);
  CHECK(number_in(rows[0], "waiting_ns") == 18'000);
  CHECK(text_in(rows[1], "collective") == "gloo:all_reduce");
  CHECK(number_in(rows[1], "transfer_ns") == 12'000);
  CHECK(number_in(rows[4], "waiting_ns") == 0);
}
