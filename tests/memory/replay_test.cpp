#include "memory/replay.h"

#include "base/problems.h"
#include "support/memory_source.h"
#include "support/pickle_text.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace traceloom;

namespace {

constexpr std::int64_t kSegment = 0x1000000;

PickleCode frames(const char* function, const char* file, int line) {
  return list({dict({{"name", "malloc"}, {"filename", "??"}, {"line", 0}}),
               dict({{"name", function}, {"filename", file}, {"line", line}})});
}
const PickleCode kModel = frames("forward", "/home/a/model.py", 7);
const PickleCode kTrack = frames("track", "/home/a/metrics.py", 41);

// An entry at the time `us`, with its stack.
PickleCode entry(const char* action, std::int64_t address, std::int64_t size, int us,
                 const PickleCode& stack = kModel) {
  return dict({{"action", action},
               {std::string_view(action) == "oom" ? "device_free" : "addr", address},
               {"size", size},
               {"stream", 0},
               {"time_us", us},
               {"frames", stack}});
}

PickleCode block(std::int64_t size, std::int64_t requested, const char* state,
                 const PickleCode& stack = list({})) {
  return dict({{"size", size}, {"requested_size", requested}, {"state", state}, {"frames", stack}});
}

PickleCode segment(std::int64_t size, const std::vector<PickleCode>& blocks, int pool = 0,
                   std::int64_t address = kSegment) {
  return dict({{"device", 0},
               {"address", address},
               {"total_size", size},
               {"segment_type", "large"},
               {"segment_pool_id", list({0, pool})},
               {"blocks", list(blocks)}});
}

Snapshot read(const std::vector<PickleCode>& segments, const std::vector<PickleCode>& entries,
              const std::vector<PickleCode>& marks = {}) {
  MemorySource source(pickle(dict({{"segments", list(segments)},
                                   {"device_traces", list({list(entries)})},
                                   {"external_annotations", list(marks)}})));
  return snapshot_of(read_pickle(source, "f.pickle"), "f.pickle");
}

MemoryAnswer answer_of(const Snapshot& snapshot) {
  REQUIRE(snapshot.devices.size() == 1);
  return replay(snapshot, snapshot.devices[0]);
}

PickleCode mark(const char* name, const char* stage, int us) {
  return dict({{"name", name}, {"stage", stage}, {"device", 0}, {"time_us", us}});
}

// "model.py:7 forward 300 1 0": the place, bytes and allocations at the peak, bytes at the end.
std::vector<std::string> places(const MemoryAnswer& answer) {
  std::vector<std::string> lines;
  for (const PlaceMemory& one : answer.places)
    lines.push_back(
        fmt::format("{} {} {} {}", one.place, one.at_peak, one.at_peak_count, one.at_end));
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("replay: the peak, who held it, and what is left") {
  const Snapshot snapshot = read(
      {segment(8192, {block(1024, 600, "active_allocated", kTrack), block(7168, 300, "inactive")})},
      {entry("segment_alloc", kSegment, 8192, 1), entry("alloc", kSegment, 600, 2, kTrack),
       entry("alloc", kSegment + 1024, 300, 3), entry("free_requested", kSegment + 1024, 300, 4),
       entry("free_completed", kSegment + 1024, 300, 5)});
  const MemoryAnswer answer = answer_of(snapshot);
  CHECK(answer.entries == 5);
  CHECK(answer.is_complete);
  CHECK(answer.peak.requested == 900);
  CHECK(answer.peak.active == 1536);
  CHECK(answer.peak.reserved == 8192);
  CHECK(answer.peak_at_ns == 3000);
  CHECK(answer.end.requested == 600);
  CHECK(answer.end.allocated == 1024);
  CHECK(answer.end.reserved == 8192);
  CHECK(answer.inactive == 7168);
  CHECK(answer.largest_free == 7168);
  CHECK(answer.rounding == 424);
  CHECK(answer.reclaimable == 0);
  CHECK(answer.contradictions == 0);
  CHECK(places(answer) == Lines{"metrics.py:41 track 600 1 600", "model.py:7 forward 300 1 0"});
  CHECK(answer.places[0].category == MemoryCategory::other);
  CHECK(answer.places[1].category == MemoryCategory::activation);
}

TEST_CASE("replay: what was allocated before the history has no place once it was freed") {
  const std::vector<PickleCode> segments{
      segment(4096, {block(1024, 1000, "active_allocated"), block(3072, 0, "inactive")})};
  const MemoryAnswer answer =
      answer_of(read(segments, {entry("free_requested", kSegment + 1024, 512, 1, kTrack),
                                entry("free_completed", kSegment + 1024, 512, 2, kTrack)}));
  CHECK_FALSE(answer.is_complete);
  CHECK(answer.peak.requested == 1512);
  CHECK_FALSE(answer.peak_at_ns.has_value());
  CHECK(answer.frees_without_alloc == 1);
  CHECK(places(answer) == Lines{"(before the history) 1512 2 1000"});
  CHECK(answer.places[0].category == MemoryCategory::unknown);
  // A free has the stack of its alloc where each one that is known has.
  const MemoryAnswer told =
      answer_of(read(segments, {entry("alloc", kSegment + 2048, 100, 1),
                                entry("free_requested", kSegment + 2048, 100, 2),
                                entry("free_completed", kSegment + 2048, 100, 3),
                                entry("free_requested", kSegment + 1024, 512, 4, kTrack),
                                entry("free_completed", kSegment + 1024, 512, 5, kTrack)}));
  CHECK(places(told) == Lines{"(before the history) 1000 1 1000", "metrics.py:41 track 512 1 0",
                              "model.py:7 forward 100 1 0"});
}

TEST_CASE("replay: without completed frees the request is the free") {
  const MemoryAnswer answer = answer_of(
      read({segment(4096, {block(4096, 0, "inactive")})},
           {entry("alloc", kSegment, 700, 1), entry("free_requested", kSegment, 700, 2)}));
  CHECK(answer.peak.requested == 700);
  CHECK(answer.contradictions == 0);
  CHECK(answer.reclaimable == 4096);
}

TEST_CASE("replay: a block that waits for a stream is active and not allocated") {
  const MemoryAnswer answer = answer_of(
      read({segment(1024, {block(1024, 1000, "active_pending_free")})},
           {entry("alloc", kSegment, 1000, 1), entry("free_requested", kSegment, 1000, 2)}));
  CHECK(answer.end.requested == 1000);
  CHECK(answer.end.active == 1024);
  CHECK(answer.end.allocated == 0);
  CHECK(answer.peak.allocated == 1024);
  CHECK(answer.contradictions == 0);
}

TEST_CASE("replay: without a history the end is told, and without stacks no place") {
  const MemoryAnswer answer =
      answer_of(read({segment(2048, {block(1024, 900, "active_allocated"),
                                     block(1024, 800, "active_allocated", kTrack)})},
                     {}));
  CHECK(answer.entries == 0);
  CHECK_FALSE(answer.is_complete);
  CHECK(answer.peak.requested == 1700);
  CHECK(places(answer) == Lines{"(not recorded) 900 1 900", "metrics.py:41 track 800 1 800"});
}

TEST_CASE("replay: a place that keeps memory in three steps is a leak") {
  std::vector<PickleCode> blocks;
  std::vector<PickleCode> entries;
  std::vector<PickleCode> marks;
  for (int step = 0; step < 3; ++step) {
    const std::string name = fmt::format("ProfilerStep#{}", step + 5);
    marks.push_back(mark(name.c_str(), "START", 10 * step));
    entries.push_back(entry("alloc", kSegment + 1024 * step, 700 + step, 10 * step + 1, kTrack));
    blocks.push_back(block(1024, 700 + step, "active_allocated", kTrack));
  }
  marks.push_back(mark("validate", "START", 21));
  entries.push_back(entry("alloc", kSegment + 3072, 900, 22));
  blocks.push_back(block(1024, 900, "active_allocated", kModel));
  const MemoryAnswer answer = answer_of(read({segment(4096, blocks)}, entries, marks));
  REQUIRE(answer.leaks.size() == 1);
  CHECK(answer.leaks[0].place == "metrics.py:41 track");
  CHECK(answer.leaks[0].steps == 3);
  CHECK(answer.leaks[0].bytes_per_step == 701);
  CHECK(answer.peak_step == 7);
  CHECK(answer.peak_in == "validate");
}

TEST_CASE("replay: out of memory is fragmentation where free pieces would do together") {
  const std::vector<PickleCode> segments{
      segment(6 << 20, {block(2 << 20, 0, "inactive"), block(1 << 20, 900'000, "active_allocated"),
                        block(3 << 20, 0, "inactive")}),
      segment(2 << 20, {block(2 << 20, 0, "inactive")}, 1, kSegment << 4)};
  const auto oom_of = [&](std::int64_t bytes) {
    const MemoryAnswer answer = answer_of(read(segments, {entry("oom", 4096, bytes, 1, kTrack)}));
    CHECK(answer.private_pools == 2 << 20);
    CHECK(answer.ooms == 1);
    REQUIRE(answer.out_of_memory.size() == 1);
    return answer.out_of_memory[0];
  };
  const OutOfMemory oom = oom_of(4 << 20);
  CHECK(oom.requested == 4 << 20);
  CHECK(oom.device_free == 4096);
  CHECK(oom.reserved == 8 << 20);
  CHECK(oom.inactive == 5 << 20);
  CHECK(oom.largest_free == 3 << 20);
  CHECK(oom.is_fragmented);
  CHECK(oom.place == "metrics.py:41 track");
  CHECK_FALSE(oom_of(6 << 20).is_fragmented);
}

TEST_CASE("replay: out of memory in the past is told with the segments of that time") {
  const MemoryAnswer answer = answer_of(
      read({}, {entry("segment_map", kSegment, 4 << 20, 1),
                entry("segment_map", kSegment + (4 << 20), 4 << 20, 2),
                entry("alloc", kSegment + (3 << 20), 1 << 20, 3), entry("oom", 0, 64 << 20, 4),
                entry("free_requested", kSegment + (3 << 20), 1 << 20, 5),
                entry("free_completed", kSegment + (3 << 20), 1 << 20, 6),
                entry("segment_unmap", kSegment, 8 << 20, 7)}));
  REQUIRE(answer.out_of_memory.size() == 1);
  CHECK(answer.out_of_memory[0].reserved == 8 << 20);
  CHECK(answer.out_of_memory[0].inactive == 7 << 20);
  CHECK(answer.out_of_memory[0].largest_free == 4 << 20);
  CHECK(answer.contradictions == 0);
  CHECK(answer.is_complete);
  CHECK(answer.peak.reserved == 8 << 20);
}

TEST_CASE("replay: contradictions are counted, and no sum becomes negative") {
  const Snapshot snapshot =
      read({segment(1024, {block(1024, 1000, "active_allocated")})},
           {entry("alloc", 77, 50, 1), entry("alloc", kSegment, 999, 2),
            entry("free_completed", kSegment, 5, 3), entry("frobnicate", 1, 1, 4),
            entry("snapshot", 0, 1024, 5), entry("snapshot", 0, 5, 6)});
  const MemoryAnswer answer = answer_of(snapshot);
  CHECK(answer.contradictions == 3);
  CHECK(answer.unknown_actions == 1);
  CHECK(answer.checks == 2);
  CHECK(answer.checks_that_fit == 1);
  CHECK(answer.peak.requested == 1000);
}

TEST_CASE("snapshot: parts of another form are left out and counted") {
  const Snapshot snapshot =
      read({7, segment(2048, {block(-1, 5, "inactive"), block(1024, 5, "melted")})},
           {"alloc", dict({{"action", "alloc"}}), entry("alloc", kSegment, -4096, 1),
            dict({{"action", "alloc"}, {"addr", 5}, {"size", 6}, {"frames", "nowhere"}})});
  CHECK(snapshot.left_out == 7);
  REQUIRE(snapshot.devices.size() == 1);
  CHECK(snapshot.devices[0].entries.size() == 1);
  const auto error_of = [](const PickleCode& root) -> std::string {
    MemorySource source(pickle(root));
    try {
      snapshot_of(read_pickle(source, "f.pickle"), "f.pickle");
    } catch (const Error& error) {
      return error.what();
    }
    return "read";
  };
  CHECK(error_of(list({})) ==
        "f.pickle: is no allocator snapshot: segments is missing, not a list");
  CHECK(error_of(dict({{"segments", 7}, {"device_traces", list({})}})) ==
        "f.pickle: is no allocator snapshot: segments is a number, not a list");
  CHECK(error_of(dict({{"segments", list({})}, {"device_traces", dict({})}})) ==
        "f.pickle: is no allocator snapshot: device_traces is a dictionary, not a list");
}

TEST_CASE("snapshot: the layout of torch 2.0, where a block has a history") {
  const PickleCode old = dict(
      {{"size", 1024},
       {"state", "active_allocated"},
       {"history", list({dict({{"addr", kSegment}, {"real_size", 1000}, {"frames", kTrack}})})}});
  const MemoryAnswer answer = answer_of(read({segment(1024, {old})}, {}));
  CHECK(answer.end.requested == 1000);
  CHECK(places(answer) == Lines{"metrics.py:41 track 1000 1 1000"});
}

TEST_CASE("snapshot: the place of a stack") {
  const auto place = [](const std::vector<MemoryFrame>& stack) { return place_of(stack); };
  const MemoryFrame cpp{"malloc", "CUDACachingAllocator.cpp", 0};
  const MemoryFrame torch{"forward", "/v/lib/python3.11/site-packages/torch/nn/modules/linear.py",
                          1};
  const MemoryFrame library{"run", "/usr/lib/python3.11/threading.py", 9};
  const MemoryFrame other{"attend", "/v/lib/python3.11/site-packages/flash/attn.py", 2};
  const MemoryFrame user{"step", "/home/a/train.py", 3};
  const MemoryFrame node{"torch::autograd::generated::MulBackward0::apply(std::vector<x>&&)", "??",
                         0};
  const MemoryFrame sum{"torch::autograd::AccumulateGrad::apply(std::vector<x>&&)", "??", 0};
  const MemoryFrame base{"torch::autograd::Node::operator()(x)", "??", 0};
  CHECK(place({cpp, torch, library, user}) == "train.py:3 step");
  CHECK(place({cpp, torch, other, user}) == "attn.py:2 attend");
  CHECK(place({cpp, node, base}) == "MulBackward0");
  CHECK(place({cpp, base, sum}) == "AccumulateGrad");
  CHECK(place({cpp, torch}) == "(no Python frame)");
  CHECK(place({{"f", "<ipython-input-1-ab>", 4}}) == "<ipython-input-1-ab>:4 f");
}

TEST_CASE("snapshot: the first frame from the inside that tells is the category") {
  using enum MemoryCategory;
  const std::string torch = "/v/site-packages/torch/";
  const auto category = [&](const char* function, const std::string& file) {
    const MemoryFrame user{"main", "/home/a/train.py", 1};
    return category_of(std::vector<MemoryFrame>{{function, file, 1}, user});
  };
  CHECK(category("step", torch + "optim/adam.py") == optimizer);
  CHECK(category("unshard", torch + "distributed/fsdp/x.py") == communication);
  CHECK(category("__init__", "/home/a/model.py") == parameter);
  CHECK(category("_apply", torch + "nn/modules/module.py") == parameter);
  CHECK(category("to", "/home/a/data.py") == other);
  CHECK(category("_call_impl", torch + "nn/modules/module.py") == activation);
  CHECK(category("torch::autograd::Engine::thread_main()", "??") == backward);
  // The loss of a closure is an activation, though the optimizer calls it.
  const std::string optim = torch + "optim/sgd.py";
  CHECK(category_of(std::vector<MemoryFrame>{{"forward", "/home/a/model.py", 1},
                                             {"step", optim, 2}}) == activation);
}
