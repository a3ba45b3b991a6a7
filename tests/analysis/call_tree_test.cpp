#include "oracle/call_tree.h"

#include "analysis/reports/reports.h"
#include "support/random_host.h"
#include "support/report_cells.h"
#include "support/run_texts.h"
#include "support/trace_text.h"
#include "support/tries.h"

#include <doctest/doctest.h>

#include <map>

using namespace traceloom;

namespace {

const RunRequest kWithFrames{.details = true, .frames = true};

TreeReportOptions everything(bool calls) {
  TreeReportOptions options;
  options.tree.kinds.calls = calls;
  options.min_share = 0;
  return options;
}

// "7;outer;inner" -> row, of the tree of one rank.
std::map<std::string, oracle::TreeRow> rows_by_stack(const CallTree& tree) {
  std::map<std::string, oracle::TreeRow> rows;
  std::vector<std::string> stacks;
  for (const TreeNode& node : tree.nodes()) {
    const TreeRoot& root = tree.root(node);
    const std::string top = root.is_not_launched ? "?" : root.thread;
    stacks.push_back(node.parent == kNoParent ? top : stacks[node.parent] + ";" + tree.name(node));
    rows[stacks.back()] = {node.count, node.host_self_ns, node.host_total_ns, node.device_self_ns,
                           node.device_total_ns};
  }
  return rows;
}

std::string shown(const std::map<std::string, oracle::TreeRow>& rows) {
  std::string text;
  for (const auto& [stack, row] : rows)
    text += stack + " " + std::to_string(row.count) + " " + std::to_string(row.host_self_ns) + "/" +
            std::to_string(row.host_total_ns) + " " + std::to_string(row.device_self_ns) + "/" +
            std::to_string(row.device_total_ns) + "\n";
  return text;
}

Run read_steps() {
  return read_texts({{"rank0.json", TraceText()
                                        .cat("user_annotation")
                                        .x("ProfilerStep#1", 0, 100)
                                        .x("ProfilerStep#2", 100, 60)
                                        .cat("python_function")
                                        .x("train.py(3): run", 0, 200)
                                        .x("nn.Module: Linear_0", 10, 50)
                                        .cat("cpu_op")
                                        .x("aten::mm", 20, 30)
                                        .x("aten::mm", 110, 10)
                                        .cat("cuda_runtime")
                                        .x("cudaLaunchKernel", 25, 5, R"({"correlation": 1})")
                                        .cat("kernel")
                                        .x("gemm;x", 60, 7, R"({"correlation": 1})")
                                        .x("lost", 70, 2, R"({"correlation": 2})")
                                        .array()}},
                    kWithFrames);
}

}  // namespace

TEST_CASE("call tree: spans nest on their thread, and steps are one node") {
  const CallTree tree(read_steps(), {});
  CHECK(shown(rows_by_stack(tree)) ==
        "1 0 0/200000 0/7000\n"
        "1;train.py(3): run 1 40000/200000 0/7000\n"
        "1;train.py(3): run;ProfilerStep 2 100000/160000 0/7000\n"
        "1;train.py(3): run;ProfilerStep;aten::mm 1 10000/10000 0/0\n"
        "1;train.py(3): run;ProfilerStep;nn.Module: Linear_0 1 20000/50000 0/7000\n"
        "1;train.py(3): run;ProfilerStep;nn.Module: Linear_0;aten::mm 1 30000/30000 7000/7000\n"
        "? 0 0/0 2000/2000\n");
  CHECK(tree.crossings() == 0);
}

TEST_CASE("call tree: a method is one node, whatever the address of its object") {
  const Run run =
      read_texts({{"rank0.json", TraceText()
                                     .cat("python_function")
                                     .x("<built-in method to of Tensor object at 0x7f01>", 0, 10)
                                     .x("<built-in method to of Tensor object at 0x7f02>", 20, 30)
                                     .array()}},
                 kWithFrames);
  CHECK(shown(rows_by_stack(CallTree(run, {}))) ==
        "1 0 0/40000 0/0\n"
        "1;<built-in method to of Tensor object> 2 40000/40000 0/0\n");
}

TEST_CASE("call tree: what is no node leaves its time to what is around it") {
  TreeOptions options;
  options.kinds = {.python = false, .modules = true, .annotations = false, .operators = false};
  const Run run = read_steps();
  CHECK(shown(rows_by_stack(CallTree(run, options))) ==
        "1 0 0/50000 0/7000\n"
        "1;nn.Module: Linear_0 1 50000/50000 7000/7000\n"
        "? 0 0/0 2000/2000\n");
}

TEST_CASE("call tree: folded stacks are own times, and names cannot break a line") {
  TreeReportOptions options;
  options.metric = TreeMetric::device;
  options.tree.kinds = {.python = false, .calls = true, .kernels = true};
  CHECK(folded_stacks(read_steps(), options) ==
        "rank 0, launch not recorded;lost 2000\n"
        "rank 0, thread 1;ProfilerStep;nn.Module: Linear_0;aten::mm;cudaLaunchKernel;gemm:x "
        "7000\n");
}

TEST_CASE("tree: shows what reaches the share, and passes over functions that only call one") {
  TreeReportOptions options;
  options.min_share = 0.21;
  const Report report = tree_report(read_steps(), options);
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  REQUIRE(rows.size() == 5);
  CHECK(text_in(rows[0], "name") == "rank 0, thread 1");
  CHECK(text_in(rows[1], "name") == "ProfilerStep");
  CHECK(number_in(rows[1], "parent") == 0);
  CHECK(text_in(rows[2], "name") == "nn.Module: Linear_0");
  CHECK(text_in(rows[3], "name") == "aten::mm");
  CHECK(number_in(rows[3], "depth") == 3);
  CHECK(share_in(rows[3], "host_share") == 0.15);
  CHECK(share_in(rows[3], "device_share") == doctest::Approx(7.0 / 9));
  CHECK(text_in(rows[4], "name") == "rank 0, launch not recorded");
  CHECK(report.notes.at(0) ==
        "2 nodes are not shown: below 21 % of the time of the host and of devices (--min-share, "
        "--depth)");
}

TEST_CASE("tree: no spans are said, and divide nothing") {
  const Report report = tree_report(read_texts({{"rank0.json", "[]"}}, kWithFrames), {});
  CHECK(report.notes.at(0) == "no spans of host threads in these traces");
  CHECK(rows_of(report, "rows").empty());
  CHECK(folded_stacks(read_texts({{"rank0.json", "[]"}}, kWithFrames), {}).empty());
}

TEST_CASE("tree: device work alone has a root of its own") {
  const Report report = tree_report(
      read_texts({{"rank0.json", TraceText().cat("kernel").x("gemm", 0, 5).array()}}, kWithFrames),
      {});
  const std::vector<ReportRow> rows = rows_of(report, "rows");
  REQUIRE(rows.size() == 1);
  CHECK(number_in(rows[0], "device_self_ns") == 5'000);
  CHECK(std::holds_alternative<std::monostate>(cell_in(rows[0], "host_share")));
}

TEST_CASE("call tree: is that of every instant by itself, for random threads") {
  for (std::uint32_t seed = 0; seed < tries(150); ++seed) {
    CAPTURE(seed);
    const bool calls = seed % 2 == 0;
    const std::string text = random_host(seed);
    RunRequest request = kWithFrames;
    request.threads = 1 + seed % 3;
    const Run run = read_texts({{"rank0.json", text}}, request);
    const CallTree tree(run, everything(calls).tree);
    CHECK(shown(rows_by_stack(tree)) == shown(oracle::find_call_tree(text, calls)));
    std::int64_t self_ns = 0;
    std::int64_t roots_ns = 0;
    for (const TreeNode& node : tree.nodes()) {
      CHECK(node.host_self_ns >= 0);
      self_ns += node.host_self_ns;
      if (node.parent == kNoParent) roots_ns += node.host_total_ns;
    }
    CHECK(self_ns == roots_ns);
  }
}

// Two processes of one rank, each of which counts its launches and operators from 1.
TEST_CASE("call tree: two files of a rank are what each is by itself, added up") {
  for (std::uint32_t seed = 0; seed < tries(60); ++seed) {
    CAPTURE(seed);
    const std::string one = random_host(seed);
    const std::string two = random_host(seed + 1000);
    const Run run = read_texts({{"rank0-a.json", one}, {"rank0-b.json", two}}, kWithFrames);
    std::map<std::string, oracle::TreeRow> sum = oracle::find_call_tree(one, true);
    for (const auto& [stack, row] : oracle::find_call_tree(two, true)) {
      oracle::TreeRow& all = sum[stack];
      all.count += row.count;
      all.host_self_ns += row.host_self_ns;
      all.host_total_ns += row.host_total_ns;
      all.device_self_ns += row.device_self_ns;
      all.device_total_ns += row.device_total_ns;
    }
    CHECK(shown(rows_by_stack(CallTree(run, everything(true).tree))) == shown(sum));
  }
}

TEST_CASE("call tree: that of one rank is that of a run of this rank alone") {
  for (std::uint32_t seed = 0; seed < tries(20); ++seed) {
    CAPTURE(seed);
    TreeOptions options = everything(true).tree;
    options.keeps_ranks = true;
    options.by_rank = false;
    const std::vector<std::string> texts{random_host(seed), random_host(seed + 1000)};
    const CallTree all(
        read_texts({{"rank0.json", texts[0]}, {"rank1.json", texts[1]}}, kWithFrames), options);
    for (std::size_t rank = 0; rank < 2; ++rank)
      CHECK(shown(rows_by_stack(all.of_rank(rank))) ==
            shown(oracle::find_call_tree(texts[rank], true)));
  }
}

TEST_CASE("call tree: what the driver launched for the runtime stands below the runtime's call") {
  const Run run =
      read_texts({{"rank0.json", TraceText()
                                     .tid("7")
                                     .cat("cuda_runtime")
                                     .x("cudaLaunchKernel", 0, 20, R"({"correlation": 1})")
                                     .cat("cuda_driver")
                                     .x("cuLaunchKernel", 5, 10, R"({"correlation": 1})")
                                     .cat("kernel")
                                     .x("gemm", 30, 9, R"({"correlation": 1})")
                                     .array()}},
                 kWithFrames);
  const auto rows = rows_by_stack(CallTree(run, everything(true).tree));
  CHECK(rows.at("7;cudaLaunchKernel").device_self_ns == 9'000);
  CHECK(rows.at("7;cudaLaunchKernel;cuLaunchKernel").device_self_ns == 0);
}

TEST_CASE("call tree: any number of threads and order of files tells the same") {
  for (std::uint32_t seed = 0; seed < tries(20); ++seed) {
    CAPTURE(seed);
    const std::pair<std::string, std::string> a{"rank0.json", random_host(seed)};
    const std::pair<std::string, std::string> b{"rank1.json", random_host(seed + 1000)};
    RunRequest request = kWithFrames;
    request.threads = 1;
    const auto text_of = [&](const std::vector<std::pair<std::string, std::string>>& files) {
      const Run run = read_texts(files, request);
      Report report = tree_report(run, everything(true));
      report.files.clear();
      return render_report(report, TableFormat::json, {}) + folded_stacks(run, everything(true));
    };
    const std::string once = text_of({a, b});
    CHECK(text_of({b, a}) == once);
    request.threads = 4;
    CHECK(text_of({a, b}) == once);
  }
}
