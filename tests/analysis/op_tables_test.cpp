// Kernels and operators: the properties that separate rows, and a comparison with the oracle.
#include "analysis/reports/reports.h"
#include "oracle/call_tree.h"
#include "oracle/json_value.h"
#include "support/random_host.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>

using namespace traceloom;

namespace {

const RunRequest kWithArguments{.details = true, .arguments = true};

Run read_two_shapes() {
  const std::string a =
      R"({"External id": 1, "Input Dims": [[2, 3], []], "Input type": ["float", "Scalar"],)"
      R"( "Input Strides": [[3, 1], []], "Concrete Inputs": ["", "1"]})";
  const std::string b =
      R"({"External id": 2, "Input Dims": [[2,3],[]], "Input type": ["half", "Scalar"]})";
  return read_texts({{"rank0.json", TraceText()
                                        .cat("cpu_op")
                                        .x("aten::mm", 0, 20, a)
                                        .x("aten::mm", 30, 40, b)
                                        .cat("cuda_runtime")
                                        .x("launch", 5, 5, R"({"correlation": 1})")
                                        .x("launch", 35, 5, R"({"correlation": 2})")
                                        .cat("kernel")
                                        .x("s884gemm", 50, 8, R"({"correlation": 1, "stream": 7})")
                                        .x("sgemm", 60, 24, R"({"correlation": 2, "stream": 8})")
                                        .array()}},
                    kWithArguments);
}

}  // namespace

TEST_CASE("ops: shapes that are equal are one row, arguments may still tell them apart") {
  const Run run = read_two_shapes();
  const std::vector<ReportRow> shapes = rows_of(ops_report(run, {.by_shape = true}), "rows");
  REQUIRE(shapes.size() == 1);
  CHECK(text_in(shapes[0], "shape") == "[[2, 3], []]");
  CHECK(number_in(shapes[0], "count") == 2);
  CHECK(number_in(shapes[0], "device_p50_ns") == 8'000);
  CHECK(number_in(shapes[0], "device_max_ns") == 24'000);
  const std::vector<ReportRow> arguments = rows_of(ops_report(run, {.by_arguments = true}), "rows");
  REQUIRE(arguments.size() == 2);
  CHECK(text_in(arguments[0], "types") == R"(["half", "Scalar"])");
  CHECK(std::holds_alternative<std::monostate>(cell_in(arguments[0], "strides")));
  CHECK(text_in(arguments[1], "strides") == "[[3, 1], []]");
  CHECK(text_in(arguments[1], "inputs") == R"(["", "1"])");
}

TEST_CASE("ops: the share of tensor cores is of the time of kernels") {
  const Report report = ops_report(read_two_shapes(), {});
  const ReportRow row = rows_of(report, "rows").at(0);
  CHECK(share_in(row, "tensor_core_self_share") == 0.25);
  CHECK(share_in(row, "tensor_core_total_share") == 0.25);
  CHECK(number_in(row, "tensor_core_eligible") == 2);
  CHECK(number_in(row, "launchers") == 2);
  CHECK(report.values.at(0).second ==
        R"({"host_self_ns":50000,"device_self_ns":32000,"not_launched_ns":0,)"
        R"("tensor_core_eligible_share":1})");
}

TEST_CASE("ops: may be told apart by type, thread and rank without their names") {
  const std::vector<ReportRow> rows =
      rows_of(ops_report(read_two_shapes(),
                         {.by_name = false, .by_type = true, .by_thread = true, .by_rank = true}),
              "rows");
  REQUIRE(rows.size() == 1);
  CHECK(text_in(rows[0], "type") == "gemm");
  CHECK(text_in(rows[0], "thread") == "1");
  CHECK(number_in(rows[0], "rank") == 0);
  CHECK_FALSE(rows[0].contains("name"));
}

TEST_CASE("kernels: may be told apart by stream, operator and shape") {
  const std::vector<ReportRow> rows =
      rows_of(kernels_report(read_two_shapes(), {.by_name = false,
                                                 .by_type = true,
                                                 .by_operator = true,
                                                 .by_shape = true,
                                                 .by_stream = true}),
              "rows");
  REQUIRE(rows.size() == 2);
  CHECK(number_in(rows[0], "stream") == 8);
  CHECK(text_in(rows[0], "type") == "gemm");
  CHECK(text_in(rows[0], "op") == "aten::mm");
  CHECK(text_in(rows[0], "shape") == "[[2, 3], []]");
  CHECK(number_in(rows[1], "short_count") == 1);
  CHECK(number_in(rows[1], "short_ns") == 8'000);
  CHECK(share_in(rows[1], "tensor_core_share") == 1);
  CHECK(share_in(rows[0], "gpu_share") == doctest::Approx(24.0 / 34));
}

TEST_CASE("kernels: blocks per SM and occupancy are means by duration") {
  const Run run = read_texts(
      {{"rank0.json",
        TraceText()
            .cat("kernel")
            .x("gemm", 0, 30, R"({"blocks per SM": 0.5, "est. achieved occupancy %": 40})")
            .x("gemm", 40, 10, R"({"blocks per SM": 4.5, "est. achieved occupancy %": 80})")
            .array()}},
      {.details = true});
  const ReportRow row = rows_of(kernels_report(run, {}), "rows").at(0);
  CHECK(share_in(row, "blocks_per_sm") == 1.5);
  CHECK(share_in(row, "occupancy") == 50);
}

TEST_CASE("ops: are those of every instant by itself, for random threads") {
  for (std::uint32_t seed = 0; seed < tries(150); ++seed) {
    CAPTURE(seed);
    const std::string text = random_host(seed);
    const Run run = read_texts({{"rank0.json", text}}, {.details = true, .threads = 1 + seed % 3});
    const std::map<std::string, oracle::TreeRow> expected = oracle::find_operators(text);
    const std::vector<ReportRow> rows = rows_of(ops_report(run, {}), "rows");
    CHECK(rows.size() == expected.size());
    for (const ReportRow& row : rows) {
      const std::string name = text_in(row, "name");
      CAPTURE(name);
      CHECK(number_in(row, "count") == expected.at(name).count);
      CHECK(number_in(row, "host_self_ns") == expected.at(name).host_self_ns);
      CHECK(number_in(row, "host_total_ns") == expected.at(name).host_total_ns);
      CHECK(number_in(row, "device_self_ns") == expected.at(name).device_self_ns);
      CHECK(number_in(row, "device_total_ns") == expected.at(name).device_total_ns);
    }
  }
}

TEST_CASE("kernels: are those that one finds one by one, for random threads") {
  for (std::uint32_t seed = 0; seed < tries(150); ++seed) {
    CAPTURE(seed);
    const std::string text = random_host(seed);
    const Run run = read_texts({{"rank0.json", text}}, {.details = true, .threads = 1 + seed % 3});
    const auto expected = oracle::find_kernels(text);
    const Report report = kernels_report(run, {.by_operator = true});
    const std::vector<ReportRow> rows = rows_of(report, "rows");
    CHECK(rows.size() == expected.size());
    std::int64_t total_ns = 0;
    double shares = 0;
    for (const ReportRow& row : rows) {
      const std::vector<std::int64_t>& times =
          expected.at({text_in(row, "name"), text_or_nothing(row, "op")});
      std::int64_t sum = 0;
      for (const std::int64_t ns : times) sum += ns;
      total_ns += sum;
      shares += share_in(row, "share");
      CHECK(number_in(row, "total_ns") == sum);
      CHECK(number_in(row, "count") == static_cast<std::int64_t>(times.size()));
      CHECK(number_in(row, "min_ns") == times.front());
      CHECK(number_in(row, "max_ns") == times.back());
      CHECK(number_in(row, "p50_ns") == times[(times.size() + 1) / 2 - 1]);
      CHECK(number_in(row, "p90_ns") == times[(times.size() * 9 + 9) / 10 - 1]);
    }
    const oracle::Json totals = oracle::parse_json(report.values.at(0).second);
    CHECK(totals.find("total_ns")->text == std::to_string(total_ns));
    if (total_ns > 0) CHECK(shares == doctest::Approx(1));
  }
}

TEST_CASE("kernels and ops: any number of threads and order of files tells the same") {
  for (std::uint32_t seed = 0; seed < tries(20); ++seed) {
    CAPTURE(seed);
    const std::pair<std::string, std::string> a{"rank0.json", random_host(seed)};
    const std::pair<std::string, std::string> b{"rank1.json", random_host(seed + 1000)};
    RunRequest request = kWithArguments;
    request.threads = 1;
    const auto text_of = [&](const std::vector<std::pair<std::string, std::string>>& files) {
      const Run run = read_texts(files, request);
      return render_report(kernels_report(run, {.by_type = true, .by_operator = true}),
                           TableFormat::csv, {}) +
             render_report(ops_report(run, {.by_thread = true, .by_rank = true}), TableFormat::csv,
                           {});
    };
    const std::string once = text_of({a, b});
    CHECK(text_of({b, a}) == once);
    request.threads = 4;
    CHECK(text_of({a, b}) == once);
  }
}
