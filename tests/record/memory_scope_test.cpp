#include "record/memory_scope.h"

#include "base/problems.h"
#include "record/scratch.h"
#include "support/child_process.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

// Returns the text with every number after a blank as N, but for 0.
std::string shape_of(const std::string& text) {
  std::string shape;
  std::size_t i = 0;
  while (i < text.size()) {
    shape += text[i++];
    if (shape.back() != ' ') continue;
    const std::size_t end = text.find_first_not_of("-0123456789", i);
    const std::string number = text.substr(i, end - i);
    if (number.empty()) continue;
    shape += number == "0" ? "0" : "N";
    i = std::min(end, text.size());
  }
  return shape;
}

// Memory that is taken at once and given back at once, which no allocator keeps.
class Block {
 public:
  explicit Block(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(data_, 'x', bytes);
  }
  ~Block() { munmap(data_, bytes_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

 private:
  std::size_t bytes_;
  void* data_;
};

void run_twice(MemoryStats& stats) {
  for (int i = 0; i < 2; ++i) {
    const MemoryScope scope(stats, "training_step");
    stats.add_bytes("npp", 4096);
  }
}

std::string refusal(const MemoryStatsOptions& options) {
  try {
    const MemoryStats stats(options);
  } catch (const std::runtime_error& error) {
    const std::string problem = error.what();
    return problem.substr(problem.find(": ") + 2);
  }
  return "taken";
}

}  // namespace

TEST_CASE("memory_scope: start and end of each iteration after the first, as YAML") {
  const Scratch scratch;
  MemoryStats stats({.path = scratch / "rank_3_memory_stats.yaml", .rank = 3});
  run_twice(stats);
  // The file is there while the run goes on, so also when it is killed.
  CHECK(shape_of(scratch.text("rank_3_memory_stats.yaml")).find("_diff: ") != std::string::npos);
  const std::string text = scratch.text("rank_3_memory_stats.yaml");
  CHECK(text.starts_with("3.training_step.2.start:\n  time_ns: 1"));
  CHECK(text.find("\n  npp: 4096\n3.training_step.2.end:\n") != std::string::npos);
  CHECK(text.ends_with("\n  npp_diff: 4096\n"));
}

TEST_CASE("memory_scope: the same as JSON, whole after each entry") {
  const Scratch scratch;
  MemoryStats stats({.path = scratch / "m.json", .warmup_iterations = 0, .max_iterations = 1});
  CHECK(scratch.text("m.json") == "{\n}\n");
  {
    const MemoryScope scope(stats, "a \"b\"");
    CHECK(shape_of(scratch.text("m.json")) ==
          "{\n  \"0.a \\\"b\\\".1.start\": {\"time_ns\": N, \"rss\": N, \"vms\": N}\n}\n");
  }
  const std::string text = scratch.text("m.json");
  CHECK(text.find("},\n  \"0.a \\\"b\\\".1.end\": {\"time_ns\": ") != std::string::npos);
  CHECK(text.find("\"vms_diff\": ") != std::string::npos);
  CHECK(text.ends_with("}\n}\n"));
  const MemoryScope second(stats, "a \"b\"");
  CHECK(scratch.text("m.json") == text);  // one iteration was asked for
}

TEST_CASE("memory_scope: keys that YAML could take for something else are quoted") {
  const Scratch scratch;
  MemoryStats stats({.path = scratch / "m.yaml", .warmup_iterations = 0});
  stats.add_bytes("saved: all", -5);
  const MemoryScope scope(stats, "step #1");
  const std::string text = scratch.text("m.yaml");
  CHECK(text.starts_with("\"0.step #1.1.start\":\n"));
  CHECK(text.ends_with("  \"saved: all\": -5\n"));
}

TEST_CASE("memory_scope: names that YAML takes for values are quoted") {
  const Scratch scratch;
  MemoryStats stats({.path = scratch / "m.yaml", .warmup_iterations = 0});
  for (const char* const name : {"123", "No", "a1", "null", "true", "~", "0x1f"})
    stats.add_bytes(name, 1);
  const MemoryScope scope(stats, "s");
  const std::string text = scratch.text("m.yaml");
  CHECK(text.starts_with("0.s.1.start:\n"));
  CHECK(
      text.ends_with("\n  \"0x1f\": 1\n  \"123\": 1\n  \"No\": 1\n  a1: 1\n"
                     "  \"null\": 1\n  \"true\": 1\n  \"~\": 1\n"));
}

TEST_CASE("memory_scope: a counter whose key an entry has already is refused") {
  MemoryStats stats({});
  stats.add_bytes("x", 1);
  stats.add_bytes("x", 1);
  stats.add_bytes("y_diff", 1);
  for (const char* const name : {"time_ns", "rss", "vms", "rss_diff", "vms_diff", "x_diff", "y"})
    CHECK_THROWS_AS(stats.add_bytes(name, 1), std::invalid_argument);
  CHECK_THROWS_WITH(stats.add_bytes("y", 1),
                    R"(counter "y": an entry has the key "y_diff" already; choose another name)");
}

TEST_CASE("memory_scope: sees what the process takes, and gives back") {
  std::vector<std::string> keys;
  std::vector<MemorySnapshot> snapshots;
  MemoryStats stats({.warmup_iterations = 0, .on_snapshot = [&](const MemorySnapshot& snapshot) {
                       keys.emplace_back(snapshot.key);
                       snapshots.push_back(snapshot);
                     }});
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::optional<Block> block;
  {
    const MemoryScope scope(stats, "grow");
    block.emplace(kBytes);
  }
  {
    const MemoryScope scope(stats, "shrink");
    block.reset();
  }
  REQUIRE(snapshots.size() == 4);
  CHECK(keys[0] == "0.grow.1.start");
  CHECK(keys[3] == "0.shrink.1.end");
  const auto half = static_cast<std::int64_t>(kBytes / 2);
  CHECK(snapshots[1].rss - snapshots[0].rss > half);
  CHECK(snapshots[3].rss - snapshots[2].rss < -half);
  CHECK(snapshots[1].vms >= snapshots[1].rss);
  const MemoryGrowth grown = stats.growth("grow");
  CHECK(grown.iterations == 1);
  CHECK(grown.rss_sum == snapshots[1].rss - snapshots[0].rss);
  const MemoryGrowth shrunk = stats.growth("shrink");
  CHECK(shrunk.rss_min == shrunk.rss_max);
  CHECK(shrunk.rss_last < -half);
  CHECK(stats.growth("neither").iterations == 0);
}

TEST_CASE("memory_scope: scopes nest, in themselves too, and keep their iterations apart") {
  std::vector<std::string> keys;
  MemoryStats stats({.warmup_iterations = 0, .on_snapshot = [&](const MemorySnapshot& snapshot) {
                       keys.push_back(snapshot.key);
                     }});
  {
    const MemoryScope outer(stats, "f");
    const MemoryScope other(stats, "g");
    const MemoryScope inner(stats, "f");
  }
  CHECK(keys == std::vector<std::string>{"0.f.1.start", "0.g.1.start", "0.f.2.start", "0.f.2.end",
                                         "0.g.1.end", "0.f.1.end"});
}

TEST_CASE("memory_scope: a counter that begins within a scope has been 0 before") {
  const Scratch scratch;
  MemoryStats stats({.path = scratch / "m.yaml", .warmup_iterations = 0});
  {
    const MemoryScope scope(stats, "f");
    stats.add_bytes("late", 7);
    stats.add_bytes("late", -3);
  }
  CHECK(scratch.text("m.yaml").ends_with("\n  late_diff: 4\n"));
}

TEST_CASE("memory_scope: many threads may be in scopes at once") {
  const Scratch scratch;
  MemoryStats stats({.path = scratch / "m.yaml", .warmup_iterations = 0});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        const MemoryScope scope(stats, "f");
        stats.add_bytes("n", 1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(stats.growth("f").iterations == 200);
  CHECK(scratch.text("m.yaml").find("  n: 200\n") != std::string::npos);
}

TEST_CASE("memory_scope: a callback that fails at the end of a scope is told by flush()") {
  MemoryStats stats({.warmup_iterations = 0, .on_snapshot = [](const MemorySnapshot& snapshot) {
                       if (std::string(snapshot.key).ends_with("end"))
                         throw std::runtime_error("no room in the program");
                     }});
  { const MemoryScope scope(stats, "f"); }
  CHECK_THROWS_WITH(stats.flush(), "no room in the program");
}

TEST_CASE("memory_scope: a child made by fork() sees its own memory") {
  MemoryStats stats({.warmup_iterations = 0});
  { const MemoryScope scope(stats, "parent"); }
  CHECK(run_child([&] {
          std::optional<Block> block;
          {
            const MemoryScope scope(stats, "child");
            block.emplace(std::size_t{32} << 20);
          }
          _exit(stats.growth("child").rss_last > (std::int64_t{16} << 20) ? 0 : 1);
        }) == 0);
}

TEST_CASE("memory_scope: a file that exists is not overwritten unless that is allowed") {
  const Scratch scratch;
  scratch.write("m.yaml", "old: 1\n");
  MemoryStatsOptions options{.path = scratch / "m.yaml"};
  CHECK(refusal(options) == "exists already: choose another name, or allow to overwrite");
  CHECK(scratch.text("m.yaml") == "old: 1\n");
  options.overwrite = true;
  CHECK(refusal(options) == "taken");
  CHECK(scratch.text("m.yaml") == "");
  options.path = scratch / "none/m.yaml";
  CHECK(refusal(options) == "No such file or directory");
}

TEST_CASE("memory_scope: when the disk is full what was written stays whole, and that is told") {
  for (const std::string name : {"m.json", "m.yaml"}) {
    const Scratch scratch;
    const std::string path = scratch / name;
    // The limit applies to the whole process.
    CHECK(run_child([&] {
            std::signal(SIGXFSZ, SIG_IGN);
            rlimit limit{};
            getrlimit(RLIMIT_FSIZE, &limit);
            limit.rlim_cur = 500;
            setrlimit(RLIMIT_FSIZE, &limit);
            MemoryStats stats({.path = path, .warmup_iterations = 0});
            for (int i = 0; i < 20; ++i) const MemoryScope scope(stats, "f");
            try {
              stats.flush();
            } catch (const std::runtime_error& error) {
              _exit(error.what() == path + ": File too large" ? 0 : 1);
            }
            _exit(2);
          }) == 0);
    const std::string text = scratch.text(name);
    CHECK(text.size() > 300);
    CHECK(text.size() <= 500);
    CHECK(text.ends_with(name == "m.json" ? "}\n}\n" : "\n"));
    CHECK(text.substr(text.rfind("0.f.")).find("vms: ") ==
          text.substr(text.rfind("0.f.")).rfind("vms: "));
  }
}
