#include "merge/rows/input_tracks.h"
#include "scan/event_scanner.h"
#include "support/merge_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <deque>
#include <map>

using namespace traceloom;

namespace {

// Returns what gpu_of() or a finder says of the event in `json`; "-" for nothing.
template <typename Ask>
std::string asked(const std::string& json, Ask ask) {
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(json, 0, Position::first, problems);
  const Event* const event = scanner.next();
  REQUIRE(event != nullptr);
  const auto said = ask(*event);
  return said ? std::string(*said) : "-";
}

std::string gpu(const std::string& members) {
  return asked("{\"ph\": \"X\", " + members + "}",
               [](const Event& event) { return gpu_of(event); });
}

// A finder, and the texts of the events that it has seen.
class ChunkOfEvents {
 public:
  std::string found(const std::string& members) {
    return asked(texts_.emplace_back("{\"pid\": 3, " + members + "}"),
                 [&](const Event& event) { return finder_.find(event); });
  }
  void reset() { finder_.reset(); }

 private:
  std::deque<std::string> texts_;
  GpuRowFinder finder_;
};

TraceText composer(int rank) {
  return TraceText().pid(std::to_string(rank)).tid("200").composer_rank(rank, "1795202302559745");
}

TraceText& kernel(TraceText& text, std::string_view tid, const Us& ts, int device) {
  return text.tid(tid).cat("kernel").x(
      "gemm", ts, 10, fmt::format(R"({{"External id": 4, "device": {}, "stream": 7}})", device));
}

// Returns "name of the row: names of its events" for all rows of all ranks.
std::vector<std::string> rows(const std::string& merged) {
  std::map<std::pair<std::string, std::string>, std::string> names;
  std::map<std::pair<std::string, std::string>, std::string> events;
  for (const oracle::Json& event : events_of(merged)) {
    const std::pair row{text_of(event, "pid"), text_of(event, "tid")};
    if (text_of(event, "ph") != "M") events[row] += " " + text_of(event, "name");
    if (text_of(event, "name") == "thread_name") names[row] = text_of(*event.find("args"), "name");
  }
  std::vector<std::string> lines;
  for (const auto& [row, text] : events)
    lines.push_back(row.first + ": " + names[row] + ":" + text);
  return lines;
}

using Rows = std::vector<std::string>;

}  // namespace

TEST_CASE("gpu_rows: the category tells a GPU's events, the args which GPU") {
  CHECK(gpu(R"("cat": "kernel", "args": {"stream": 7, "device": 12, "context": 1})") == "12");
  CHECK(gpu(R"("cat": "gpu_user_annotation", "args": {"External id": 5})") == "");
  CHECK(gpu(R"("cat": "cuda_sync")") == "");
  CHECK(gpu(R"("cat": "gpu_memset", "args": {"device": "two"})") == "");
  CHECK(gpu(R"("cat": "gpu_memcpy", "args": {"a": "\"device\": 4", "device" : 5})") == "5");
  CHECK(gpu(R"("cat": "Kernel", "args": {"device": {}})") == "");
  CHECK(gpu(R"("cat": "cpu_op", "args": {"device": 1})") == "-");
  CHECK(gpu(R"("cat": "kernels", "args": {"device": 1})") == "-");
  CHECK(gpu(R"("name": "kernel")") == "-");
}

TEST_CASE("gpu_rows: a flow belongs to the slice before it, or by its direction") {
  ChunkOfEvents chunk;
  const std::string start = R"("ph": "s", "cat": "ac2g", "tid": 7, "ts": 5, "id": 1)";
  const std::string end = R"("ph": "f", "cat": "ac2g", "tid": 7, "ts": 5, "id": 1)";
  CHECK(chunk.found(end) == "");
  CHECK(chunk.found(start) == "-");
  CHECK(chunk.found(R"("ph": "f", "cat": "fwdbwd", "tid": 7, "ts": 5, "id": 1)") == "-");
  CHECK(chunk.found(R"("ph": "f", "cat": "async_gpu", "tid": 7, "ts": 5, "id": 1)") == "");
  CHECK(chunk.found(R"("ph": "X", "cat": "cuda_runtime", "tid": 7, "ts": 5, "dur": 1)") == "-");
  CHECK(chunk.found(end) == "-");
  CHECK(chunk.found(R"("ph": "f", "cat": "ac2g", "tid": 7, "ts": 6, "id": 1)") == "");
  CHECK(chunk.found(R"("ph": "f", "cat": "ac2g", "tid": 8, "ts": 5, "id": 1)") == "");
  CHECK(chunk.found(R"("ph": "X", "cat": "kernel", "tid": 7, "ts": 5, "args": {"device": 2})") ==
        "2");
  CHECK(chunk.found(end) == "2");
  CHECK(chunk.found(start) == "2");
  CHECK(chunk.found(R"("ph": "i", "cat": "cpu_instant_event", "tid": 7, "ts": 5)") == "-");
  chunk.reset();
  CHECK(chunk.found(end) == "");
}

TEST_CASE("gpu_rows: a stream and a thread of one number are two rows again") {
  TraceText text = composer(3);
  text.m("process_name", R"({"name": "Rank 3 training loop process"})")
      .m("thread_name", R"({"name": "Training Loop"})")
      .m("process_name", R"({"name": "python3"})")
      .m("process_labels", R"({"labels": "GPU 7"})")
      .b("event/batch", 1'795'202'302'559'800)
      .e("event/batch", 1'795'202'302'559'900);
  text.tid("7")
      .m("thread_name", R"({"name": "thread 7 [python3]"})")
      .m("thread_name", R"({"name": "stream 7 "})")
      .cat("cpu_op")
      .x("aten::mm", 1'795'202'302'559'810, 20)
      .cat("ac2g")
      .with_id("s", "ac2g", 1'795'202'302'559'810, "5");
  kernel(text, "7", 1'795'202'302'559'815, 1)
      .cat("ac2g")
      .with_id("f", "ac2g", 1'795'202'302'559'815, "5");
  text.cat("gpu_user_annotation").x("step", 1'795'202'302'559'814, 12);
  const std::string merged = merge_texts({{"rank3.json", text.array()}});
  CHECK(rows(merged) == Rows{"3: GPU 1 · stream 7: gemm ac2g step", "3: Training Loop: event/batch",
                             "3: thread 7 [python3]: aten::mm ac2g"});
  CHECK(merged.find(R"("args":{"name":"Rank 3 training loop process"})") != std::string::npos);
  CHECK(merged.find("process_labels") == std::string::npos);
}

TEST_CASE("gpu_rows: the same stream of two GPUs, and of torch's own file of the rank") {
  TraceText text = composer(3);
  kernel(text, "7", 1'795'202'302'559'815, 1);
  kernel(text, "7", 1'795'202'302'559'815, 0);
  kernel(text, "20", 1'795'202'302'559'815, 0);
  text.tid("20").cat("gpu_memset").x("zero", 1'795'202'302'559'830, 1);
  text.tid("8").cat("cuda_sync").x("wait", 1'795'202'302'559'830, 1);
  TraceText torch;
  torch.pid("0").m("process_labels", R"({"labels": "GPU 0"})");
  kernel(torch, "7", 1'795'202'302'559'915, 0);
  const std::string merged =
      merge_texts({{"rank3.json", text.array()},
                   {"rank3.pt.trace.json", torch.object(R"("schemaVersion": 1)")}});
  CHECK(rows(merged) == Rows{"3: GPU 0 · stream 7: gemm gemm", "3: GPU 0 · stream 20: gemm zero",
                             "3: GPU 1 · stream 7: gemm", "3: GPU · stream 8: wait"});
}

TEST_CASE("gpu_rows: files of Composer's own merger, and of any that writes the rank over pids") {
  TraceText folded = composer(3);
  kernel(folded, "7", 1'795'202'302'559'815, 0);
  folded.tid("7").cat("cpu_op").x("aten::mm", 1'795'202'302'559'810, 20);
  folded.pid("5").tid("300").m("global_rank", R"({"value": 5})");
  kernel(folded, "7", 1'795'202'302'559'817, 0);
  folded.tid("7").cat("cpu_op").x("aten::add", 1'795'202'302'559'812, 20);
  CHECK(rows(merge_texts({{"merged_trace.json", folded.array()}})) ==
        Rows{"3: GPU 0 · stream 7: gemm", "3: thread 7: aten::mm", "5: GPU 0 · stream 7: gemm",
             "5: thread 7: aten::add"});
  TraceText others = TraceText().pid("2");
  kernel(others, "7", 15, 0);
  others.tid("7").cat("cpu_op").x("aten::mm", 10, 20);
  CHECK(rows(merge_texts({{"rank2.json", others.array()}})) ==
        Rows{"2: GPU 0 · stream 7: gemm", "2: thread 7: aten::mm"});
}

TEST_CASE("gpu_rows: torch's own files stay as they are, and so does what was merged before") {
  TraceText torch = TraceText().pid("1166").tid("1166");
  torch.cat("cpu_op").x("aten::mm", 10, 20);
  torch.pid("0");
  kernel(torch, "7", 15, 0).cat("overhead").x("flush", 30, 1);
  const std::string once = merge_texts({{"rank2.json", torch.object(R"("schemaVersion": 1)")}});
  CHECK(rows(once) == Rows{"2: pid 0 · stream 7: gemm flush", "2: thread 1166: aten::mm"});
  TraceText folded = composer(3);
  kernel(folded, "7", 1'795'202'302'559'815, 0);
  folded.tid("7").cat("cpu_op").x("aten::mm", 1'795'202'302'559'810, 20);
  const std::string merged = merge_texts({{"rank3.json", folded.array()}});
  CHECK(without_other_data(merge_texts({{"merged.json", merged}})) == without_other_data(merged));
}

TEST_CASE("gpu_rows: only torch's own label makes a pid with both a GPU's process") {
  const auto merged_rows = [](std::string_view label_of_gpu, std::string_view label_of_host) {
    const auto label = [](std::string_view name) {
      return fmt::format(R"({{"labels": "{}"}})", name);
    };
    TraceText text = TraceText().pid("9").tid("9").m("process_labels", label(label_of_host));
    text.cat("cpu_op").x("aten::mm", 10, 2).x("aten::add", 20, 2);
    text.pid("1").tid("7").m("process_labels", label(label_of_gpu));
    kernel(text, "7", 15, 0).cat("python_function").x("run", 30, 1);
    return rows(merge_texts({{"rank2.json", text.array()}}));
  };
  CHECK(merged_rows("GPU 1", "CPU") ==
        Rows{"2: GPU 1 · stream 7: gemm run", "2: thread 9: aten::mm aten::add"});
  // The pid was written over all processes of a rank, and this is the last label.
  for (const auto& [gpu, host] : {std::pair{"GPU 7", "CPU"}, {"GPU 1", "host"}}) {
    const Rows apart = merged_rows(gpu, host);
    REQUIRE(apart.size() == 3);
    CHECK(apart[0] == "2: GPU 0 · stream 7: gemm");
    CHECK(apart[1] == "2: pid 1 · thread 7: run");
  }
}

TEST_CASE("gpu_rows: rows that samples of the file do not show") {
  // The GPU's only events stand between the pieces that are read first.
  TraceText text = composer(3);
  text.tid("7").cat("cpu_op");
  for (int i = 0; i < 40'000; ++i) {
    if (i == 10'010) kernel(text, "7", 1'795'202'302'559'815 + i, 0).cat("cpu_op");
    text.x("aten::mm", 1'795'202'302'559'810 + i, 1);
  }
  const NamedTexts files{{"rank3.json", text.array()}};
  const TemporaryFolder folder;
  MergeOptions options = merge_options(folder, files, "merged.json");
  merge_traces(options);
  const std::string guessed = read_file(options.output);
  options.always_survey = true;
  merge_traces(options);
  CHECK(read_file(options.output) == guessed);
  std::size_t kernels = 0;
  for (const oracle::Json& event : events_of(guessed))
    kernels += text_of(event, "name") == "gemm" && text_of(event, "tid") == "10000000" ? 1 : 0;
  CHECK(kernels == 1);
}
