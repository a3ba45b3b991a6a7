#include "page/page.h"

#include "page/assets.h"
#include "page/html/html_writer.h"
#include "page/read_for_page.h"
#include "page/step_grid.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace traceloom;

namespace {

std::string marked_rank(int rank, int steps, std::string_view name) {
  TraceText text;
  text.cat("cpu_op");
  for (int i = 0; i < steps; ++i) {
    text.x("ProfilerStep#" + std::to_string(i), 1000 * i, 900 + 10 * i + rank);
    text.x(name, 1000 * i + 1, 500);
  }
  return text.object("\"distributedInfo\": {\"rank\": " + std::to_string(rank) + "}");
}

}  // namespace

TEST_CASE("page: the policy names the hashes of what the page holds, and nothing else may run") {
  const std::string page =
      write_page(read_for_page({{"rank0.json", marked_rank(0, 3, "op")}}), {.arguments = "x"});
  CHECK(count_of_text(page,
                      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                      "script-src 'sha256-") == 1);
  for (const PageAsset& asset : {kPageScript, kPageStyle}) {
    CHECK(count_of_text(page, "'sha256-" + base64(bytes_of_hex(asset.sha256)) + "'") == 1);
    CHECK(count_of_text(page, std::string(asset.text)) == 1);
  }
  CHECK(count_of_text(page, "unsafe") == 0);
  CHECK(count_of_text(page, " style=") == 0);
  CHECK(count_of_text(page, "http://") + count_of_text(page, "https://") == 0);
}

TEST_CASE("page: names that attack are text, in every section") {
  const std::string attack = "</script><img src=x onerror=alert(1)>";
  TraceText text;
  text.m("process_name", "{\"name\": \"" + attack + "\"}");
  text.m("thread_name", "{\"name\": \"" + attack + "\"}");
  text.tid("\"" + attack + "\"").cat(attack).x(attack, 0, 10);
  text.cat("cpu_op").x(attack, 20, 30).x(attack, 25, 5).c(attack, 30, "{\"" + attack + "\": 3}");
  text.c(attack, 31, "{\"" + attack + "\": 5}").c(attack, 40, "{\"" + attack + "\": 4}");
  text.pid("0").cat("kernel").x(attack, 30, 40, R"({"device": 0, "stream": 7})");
  Run run =
      read_for_page({{"rank0 <b>.json", text.object("\"TOKEN\": \"secret-of-the-environment\"")}});
  PageOptions options{.arguments = "'" + attack + "'", .tree = take_page_tree(run)};
  const std::string page = write_page(run, options);
  CHECK(count_of_text(page, "<img") == 0);
  CHECK(count_of_text(page, "<b>.json") == 0);
  CHECK(count_of_text(page, "&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;") > 3);
  CHECK(count_of_text(page, "secret-of-the-environment") == 0);
  // The page's own two, and data.
  CHECK(count_of_text(page, "<script>") == 1);
  CHECK(count_of_text(page, "</script>") == 1 + count_of_text(page, "<script type="));
}

TEST_CASE("page: a served page hands the trace to the viewer, and has a link") {
  const std::string page =
      write_page(read_for_page({{"rank0.json", marked_rank(0, 3, "op")}}), {.arguments = "x"});
  CHECK(count_of_text(page, "report x --serve</code>") == 1);
  CHECK(count_of_text(page, "connect-src") == 0);
  const PageServing serving{"https://ui.perfetto.dev/#!/?url=\"<x>", "merged.json", 1'500'000};
  const std::string linked = with_viewer_link(page, serving);
  CHECK(count_of_text(linked, "--serve</code>") == 0);
  CHECK(count_of_text(linked,
                      "<a href=\"https://ui.perfetto.dev/#!/?url=&quot;&lt;x&gt;\" "
                      "target=\"_blank\" rel=\"noopener\">let the viewer") == 1);
  CHECK(count_of_text(linked,
                      "data-trace=\"merged.json\" "
                      "data-viewer=\"https://ui.perfetto.dev\">Open every event") == 1);
  CHECK(count_of_text(linked, "hands it the merged trace (1.4 MiB)") == 1);
  CHECK(count_of_text(linked, "; connect-src ") == 1);
  CHECK(linked.find("; connect-src ") < linked.find("<title>"));
  CHECK(count_of_text(linked, "</section>") == count_of_text(page, "</section>"));
  CHECK(count_of_text(linked, "holds some 2 GB") == 0);
  CHECK(count_of_text(with_viewer_link(page, {"x", "merged.json", 3'000'000'000}),
                      "holds some 2 GB of JSON: for a part, "
                      "<code>trace-merge --time FROM:TO --serve</code>") == 1);
  CHECK(with_viewer_link("no timeline", serving) == "no timeline");
}

TEST_CASE("page: any number of threads gives the same bytes") {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"rank0.json", marked_rank(0, 40, "a")}, {"rank1.json", marked_rank(1, 40, "b")}};
  const std::string page = write_page(read_for_page(files, 1), {.arguments = "x"});
  // Paths of the two readings differ.
  const auto without_paths = [](std::string text) {
    for (std::size_t at = text.find("/tmp"); at != std::string::npos; at = text.find("/tmp", at))
      text.erase(at, text.find("rank", at) - at);
    return text;
  };
  CHECK(without_paths(page) ==
        without_paths(write_page(read_for_page(files, 4), {.arguments = "x"})));
}

TEST_CASE("page: a run without steps, spans or ranks says so") {
  for (const std::string& text : {std::string("[]"), TraceText().i("mark", 5).array()}) {
    const std::string page = write_page(read_for_page({{"rank0.json", text}}), {.arguments = "x"});
    CHECK(count_of_text(page, "<section ") == 11);
    CHECK(count_of_text(page, "<section ") == count_of_text(page, "</section>"));
    CHECK(count_of_text(page, "data-kind=\"inconclusive\"") == 1);
  }
}

TEST_CASE("page: the tree has all frames, and the other numbers only long functions of Python") {
  TraceText text;
  text.cat("python_function").x("long", 0, 90).x("short", 10, 5);
  Run run = read_for_page({{"rank0.json", text.array()}});
  const std::string page = write_page(run, {.arguments = "x", .tree = take_page_tree(run)});
  CHECK(count_of_text(page, "short") > 0);
  std::vector<std::string_view> frames;
  run.ranks[0].for_each_frame(
      [&](const HostSpan& span) { frames.push_back(run.labels.name(span.label)); });
  CHECK(frames == std::vector<std::string_view>{"long"});
  CHECK(run.ranks[0].parts[0].all_frames.empty());
}

TEST_CASE("page: each rank has its own tree of calls, beside its command") {
  Run run = read_for_page(
      {{"rank0.json", marked_rank(0, 3, "calm")}, {"rank1.json", marked_rank(1, 3, "slow")}});
  const std::string page = write_page(run, {.arguments = "x", .tree = take_page_tree(run)});
  CHECK(count_of_text(
            page, "\"command\":\"trace-stats tree --by all --min-share 0.2% --rank 0 x\"") == 1);
  CHECK(count_of_text(
            page, "\"command\":\"trace-stats tree --by all --min-share 0.2% --rank 1 x\"") == 1);
  // Three steps of 901, 911 and 921 us, with a call of 500 us in each.
  CHECK(count_of_text(page, ",\"rows\":[0,2733000,0,0,1,2733000,0,1,2,1500000,0,3]") == 1);
}

TEST_CASE("page: snapshots beside the traces have a curve under the steps, and its peak") {
  constexpr std::int64_t kBegin = 1'760'000'000'000'000'000;
  TraceText text;
  text.cat("user_annotation");
  for (int i = 0; i < 3; ++i)
    text.x("ProfilerStep#" + std::to_string(i), kBegin / 1000 + 1000 * i, 1000);
  Run run = read_for_page({{"rank0.json", text.array()}});
  MemoryAnswer device;
  device.curve = {{kBegin, 1, 1, 4}, {kBegin + 1'500'000, 3, 3, 4}, {kBegin + 2'000'000, 2, 2, 4}};
  device.peak.requested = 3;
  device.peak_at_ns = kBegin + 1'500'000;
  MemoryFiles files;
  files.snapshots.push_back({.path = "rank0.pickle", .devices = {device}});
  const std::string page = write_page(run, {.arguments = "x", .memory = files});
  CHECK(count_of_text(page, "Allocator snapshots of each device") == 1);
  CHECK(count_of_text(page, "<path class=bands d=\"M0.0 0V100H500.0V0\"/>") == 1);
  CHECK(count_of_text(page, "<path class=mark d=\"M750.0 0V100\"/>") == 1);
  CHECK(count_of_text(page, "0,98") + count_of_text(page, "peak 3 B") > 0);
}

TEST_CASE("page: a hostile trace stays below 2 MB") {
  TraceText text;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = std::to_string(i) + std::string(300, '<');
    text.pid("1").cat("cpu_op").x(name, 50 * i, 40);
    text.pid("0").cat("kernel").x(name, 50 * i, 40, R"({"device": 0, "stream": 7})");
  }
  Run run = read_for_page({{"rank0.json", text.array()}});
  const PageOptions options{.arguments = "x", .tree = take_page_tree(run)};
  const std::string page = write_page(run, options);
  CHECK(page.size() < 1'000'000);
  CHECK(page.size() > 200'000);
}

TEST_CASE("page: 4 ranks of 20 steps stay below 400 KB, whatever their kernels are called") {
  std::vector<std::pair<std::string, std::string>> files;
  for (int rank = 0; rank < 4; ++rank) {
    TraceText text;
    for (int step = 0; step < 20; ++step) {
      text.pid("1")
          .cat("user_annotation")
          .x("ProfilerStep#" + std::to_string(step), 5000 * step, 4900);
      for (int i = 0; i < 50; ++i) {
        const int at = 5000 * step + 90 * i;
        const int number = i + 50 * (step % 4);
        const std::string name =
            "kernel<" + std::to_string(number) + ", " + std::string(300, 'x') + ">";
        text.pid("1").cat("cpu_op").x(
            "aten::op<" + std::to_string(number) + ">" + std::string(180, 'y'), at, 60);
        text.pid("0").cat("kernel").x(name, at + 20, 40 + i % 9, R"({"device": 0, "stream": 7})");
      }
    }
    files.emplace_back(
        "rank" + std::to_string(rank) + ".json",
        text.object("\"distributedInfo\": {\"rank\": " + std::to_string(rank) + "}"));
  }
  Run run = read_for_page(files);
  const std::string page = write_page(run, {.arguments = "x", .tree = take_page_tree(run)});
  CHECK(page.size() < 400'000);
  CHECK(page.size() > 150'000);
  CHECK(count_of_text(page, "[\"operator\"") > 0);  // in the search
}

TEST_CASE("grid: cells are the steps of ranks, and neighbours share one where there is no room") {
  std::vector<RankRoles> roles(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    roles[rank].rank = static_cast<std::int64_t>(rank) + 3;
    for (int i = 0; i < 1000; ++i) {
      StepRoles step;
      step.step.number = i;
      step.step.counted = i < 999;
      step.total_ns = 1000 + static_cast<std::int64_t>(rank) * 10 + (i % 7 == 3 ? 500 : 0);
      step.step.time = {0, step.total_ns};  // packed rows keep the total as this
      step.exclusive[Role::cpu] = step.total_ns;
      if (rank == 0 || i != 12) roles[rank].steps.push_back(step);
    }
  }
  const StepGrid grid = make_step_grid(roles, {}, kMostGridCells);
  CHECK(grid.rows == std::vector<std::string>{"3", "4"});
  CHECK(grid.steps_a_column == 3);
  REQUIRE(grid.columns.size() == 333);
  CHECK(grid.columns.front() == "0-2");
  CHECK(grid.columns.back() == "996-998");
  CHECK(grid.steps.front() == "0");  // steps 0, 1, 2 are alike
  CHECK(grid.steps[1] == "3");       // 3 is slow, 4 and 5 are not
  CHECK(grid.steps[4] == "13");      // of 12, 13, 14: rank 4, which is longer, lacks 12
  CHECK(grid.steps.back() == "997");
  CHECK(grid.keys.back().number == 997);
  CHECK(grid.cells[0].total_ns == 1000);
  CHECK(grid.cells[1].total_ns == 1500);
  CHECK(grid.cells[333].total_ns == 1010);
  CHECK(grid.cells[333 + 4].total_ns == 1010);
  CHECK(grid.cells[0].roles[Role::cpu] == 1000);
}

TEST_CASE("grid: of ranks that share a cell the one furthest from the median is shown") {
  std::vector<RankRoles> roles(600);
  RankWaits waits;
  for (std::size_t rank = 0; rank < roles.size(); ++rank) {
    roles[rank].rank = static_cast<std::int64_t>(rank);
    StepRoles step;
    step.step.counted = true;
    step.total_ns = 2000;  // all end together: rank 77 works for longer, and the others wait
    step.step.time = {0, step.total_ns};
    roles[rank].steps.push_back(step);
    waits.ranks.push_back(rank);
    waits.wait_ns.push_back({rank == 77 ? 0 : 500});
  }
  waits.steps = {key_of(Step{})};
  const StepGrid grid = make_step_grid(roles, waits, kMostGridCells);
  CHECK(grid.ranks_a_row == 3);
  REQUIRE(grid.cells.size() == 200);
  CHECK(grid.rows[25] == "75-77");
  CHECK(grid.cells[25].place == 2);
  CHECK(grid.cells[25].own_ns == 2000);
  CHECK(grid.cells[24].own_ns == 1500);
  CHECK(grid.cells[24].total_ns == 2000);
  CHECK(grid.medians == std::vector<std::int64_t>{1500});
}
