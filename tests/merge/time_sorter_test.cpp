#include "merge/order/merge_output.h"
#include "output/file_sink.h"
#include "output/sink.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

std::string sorted(const std::vector<PlacedEvent>& events, std::size_t run_bytes,
                   const std::string& name = "out.json") {
  const TemporaryFolder folder;
  const std::string path = folder.path(name);
  const std::unique_ptr<Sink> output = pack_by_name(open_file_sink(path), path, 1);
  TimeSorter sorter(*output, path, run_bytes);
  int number = 0;
  for (const PlacedEvent& event : events) {
    EventBlock block;
    block.place(event, [&] { block.text += std::to_string(number++) + " "; });
    sorter.prepare(block);
    sorter.take(block);
  }
  sorter.end_file();
  sorter.finish();
  output->close();
  CHECK(folder.entry_count() == 1);
  return read_file(folder.path(name));
}

constexpr std::size_t kAllInMemory = std::size_t{1} << 20;

PlacedEvent placed(std::int64_t start_ns, std::int64_t duration_ns, OrderClass order) {
  return {.start_ns = start_ns, .duration_ns = duration_ns, .order = order};
}

}  // namespace

TEST_CASE("time_sorter: by time, then slices by length, counters, the rest, flows") {
  const std::vector<PlacedEvent> events{
      placed(5, 0, OrderClass::flow),    placed(5, 0, OrderClass::other),
      placed(5, 0, OrderClass::counter), placed(5, 1, OrderClass::slice),
      placed(5, 9, OrderClass::slice),   placed(-3, 0, OrderClass::flow),
      placed(5, 9, OrderClass::slice)};
  CHECK(sorted(events, kAllInMemory) == "5 4 6 3 2 1 0 ");
  CHECK(sorted(events, 1) == "5 4 6 3 2 1 0 ");
  CHECK(sorted({}, 1) == "");
}

TEST_CASE("time_sorter: of equal slices of a track, the one that begins first in its file") {
  const auto slice = [](std::uint32_t track, std::uint64_t source_at) {
    PlacedEvent event = placed(5, 9, OrderClass::slice);
    event.group = track;
    event.source_at = source_at;
    return event;
  };
  const std::vector<PlacedEvent> events{slice(2, 10), slice(1, 30), slice(1, 20)};
  CHECK(sorted(events, kAllInMemory) == "2 1 0 ");
  CHECK(sorted(events, 1) == "2 1 0 ");
}

TEST_CASE("time_sorter: an arrow that ends at the next slice stands directly before it") {
  std::uint64_t source_at = 0;
  const auto event = [&](OrderClass order, std::int64_t duration_ns) {
    PlacedEvent made = placed(5, duration_ns, order);
    made.source_at = ++source_at;
    return made;
  };
  const auto end = [&] { return event(OrderClass::next_end, kUnbound); };
  const auto slice = [&](std::int64_t duration_ns) {
    return event(OrderClass::slice, duration_ns);
  };
  // The last end has no slice after it.
  const std::vector<PlacedEvent> events{slice(3), end(), end(), slice(3), end(), slice(9), end()};
  CHECK(sorted(events, kAllInMemory) == "4 5 0 1 2 3 6 ");
  // The ends wait over several runs.
  CHECK(sorted(events, 100) == "4 5 0 1 2 3 6 ");
}

TEST_CASE("time_sorter: the same bytes however small the memory is") {
  std::mt19937 random(4);
  std::vector<PlacedEvent> events;
  for (int i = 0; i < 3000; ++i)
    events.push_back(placed(static_cast<std::int64_t>(random() % 500),
                            static_cast<std::int64_t>(random() % 3),
                            static_cast<OrderClass>(random() % 4)));
  const std::string wanted = sorted(events, kAllInMemory);
  // 3000 runs of one event are merged into one whenever there are kMaxRuns.
  for (const std::size_t run_bytes : {1U, 100U, 5000U}) {
    CAPTURE(run_bytes);
    CHECK(sorted(events, run_bytes) == wanted);
  }
}
