// These tests give files whose threads hold events that other files hold too, under new numbers.
#include "event/event_timing.h"
#include "identity/read_inputs.h"
#include "identity/repeats/repeats.h"
#include "scan/event_scanner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

ThreadTally thread(std::uint64_t id, std::uint64_t events, std::int64_t first_ns,
                   std::uint64_t lengths_ns) {
  const std::uint64_t sum = events * static_cast<std::uint64_t>(first_ns) + events * events;
  const std::int64_t last_ns = first_ns + static_cast<std::int64_t>(events);
  return {{events, first_ns, last_ns, sum, lengths_ns}, id, id / 10};
}

FileEvidence reading_of(const std::vector<ThreadTally>& threads) {
  FileEvidence evidence;
  evidence.threads.all = threads;
  std::ranges::sort(evidence.threads.all, {}, &ThreadTally::id);
  for (const ThreadTally& one : threads) {
    evidence.tally.events += one.events;
    evidence.tally.first_ns = std::min(evidence.tally.first_ns, one.first_ns);
    evidence.tally.last_ns =
        std::max(evidence.tally.last_ns, one.first_ns + static_cast<std::int64_t>(one.events));
  }
  return evidence;
}

// Returns "2 in 0 1" for each file that is held by others.
std::string held(const std::vector<FileEvidence>& files, bool parts) {
  ReadInputs inputs;
  for (const FileEvidence& file : files) inputs.add({}, file);
  const std::vector<InputReading> all = inputs.all();
  const std::vector<bool> stays(files.size(), true);
  std::vector<FileRank> ranks(files.size());  // parts are of one rank
  for (std::size_t i = 0; i < files.size() && !parts; ++i) {
    ranks[i].rank = static_cast<std::int64_t>(i);
    if (!files[i].distributed_rank) continue;
    ranks[i].rank = *files[i].distributed_rank;
    ranks[i].source = RankSource::distributed_info;
  }
  std::string text;
  for (const HeldElsewhere& one :
       parts ? find_parts(all, ranks, stays) : find_foreign_merges(all, ranks, stays)) {
    text += std::to_string(one.file) + " in";
    for (const std::size_t owner : one.owners) text += " " + std::to_string(owner);
    text += "\n";
  }
  return text;
}

const FileEvidence kOne = reading_of({thread(11, 40, 100, 7), thread(12, 30, 110, 5)});
const FileEvidence kTwo = reading_of({thread(11, 41, 100, 7), thread(12, 30, 120, 6)});

}  // namespace

TEST_CASE("contents: a merge by another tool holds all threads of its inputs, whatever their ids") {
  const auto merge = [](std::int64_t moved_ns, std::uint64_t lengths_ns) {
    return reading_of({thread(71, 40, 100, 7), thread(72, 30, 110, 5),
                       thread(81, 41, 100 + moved_ns, 7),
                       thread(82, 30, 120 + moved_ns, lengths_ns)});
  };
  CHECK(held({kOne, kTwo, merge(0, 6)}, false) == "2 in 0 1\n");
  // Its tool may have moved a rank.
  CHECK(held({merge(500, 6), kTwo, kOne}, false) == "0 in 1 2\n");
  CHECK(held({kOne, kTwo, merge(0, 8)}, false) == "");
  // A merge of two of three leaves the third one alone.
  const FileEvidence third = reading_of({thread(11, 9, 100, 7)});
  CHECK(held({kOne, third, kTwo, merge(0, 6)}, false) == "3 in 0 2\n");
  CHECK(held({kOne, merge(0, 6)}, false) == "");
}

TEST_CASE("contents: a merge that lacks events shares threads with one file of each rank") {
  // The rows of both ranks that have one name are one, and a thread has lost events.
  const FileEvidence first =
      reading_of({thread(11, 40, 100, 7), thread(12, 30, 110, 5), thread(13, 9, 100, 1)});
  const FileEvidence second =
      reading_of({thread(21, 41, 100, 7), thread(22, 31, 120, 6), thread(13, 8, 300, 1)});
  const std::vector<ThreadTally> shared{thread(71, 40, 100, 7), thread(72, 30, 110, 5),
                                        thread(81, 41, 100, 7), thread(82, 31, 120, 6)};
  std::vector<ThreadTally> threads = shared;
  threads.push_back(thread(13, 17, 100, 2));
  CHECK(held({first, second, reading_of(threads)}, false) == "2 in 0 1\n");
  CHECK(held({reading_of(shared), first, second}, false) == "0 in 1 2\n");
  // One thread in common proves nothing.
  CHECK(held({first, second, reading_of({shared[0], shared[2]})}, false) == "");
}

TEST_CASE("contents: files of one rank are no inputs of a merge, nor is a rank that says another") {
  FileEvidence merge = reading_of({thread(71, 40, 100, 7), thread(72, 30, 110, 5),
                                   thread(81, 41, 100, 7), thread(82, 30, 120, 6)});
  FileEvidence one = kOne;
  FileEvidence two = kTwo;
  one.distributed_rank = two.distributed_rank = merge.distributed_rank = 0;
  CHECK(held({one, two, merge}, false) == "");
  two.distributed_rank = 1;
  CHECK(held({one, two, merge}, false) == "2 in 0 1\n");  // it has the first rank's values
  merge.distributed_rank = 2;
  CHECK(held({one, two, merge}, false) == "");
}

TEST_CASE(
    "contents: a merge may hold more than its inputs; one that is too large to tell is none") {
  const FileEvidence more =
      reading_of({thread(71, 40, 100, 7), thread(72, 30, 110, 5), thread(81, 41, 100, 7),
                  thread(82, 30, 120, 6), thread(91, 5, 100, 1)});
  CHECK(held({kOne, kTwo, more}, false) == "2 in 0 1\n");
  FileEvidence many = reading_of({thread(71, 40, 100, 7), thread(72, 30, 110, 5),
                                  thread(81, 41, 100, 7), thread(82, 30, 120, 6)});
  many.threads.is_complete = false;
  CHECK(held({kOne, kTwo, many}, false) == "");
  // Ranks alike to the nanosecond are no merge of each other.
  CHECK(held({kOne, kOne, kOne}, false) == "");
}

TEST_CASE("contents: parts of a file are in it alone, or together") {
  const FileEvidence whole = reading_of({thread(11, 40, 100, 7), thread(12, 30, 110, 5)});
  CHECK(held({whole, reading_of({thread(12, 30, 110, 5)})}, true) == "1 in 0\n");
  CHECK(held({whole, reading_of({thread(12, 30, 110, 6)})}, true) == "");
  CHECK(held({whole, reading_of({thread(13, 30, 110, 5)})}, true) == "");
  // A thread in two pieces: 40 starts from 100 on, of which 10 are in the first.
  ThreadTally begin = thread(11, 10, 100, 3);
  ThreadTally end = whole.threads.all[0];
  end.events -= begin.events;
  end.sum_ns -= begin.sum_ns;
  end.lengths_ns -= begin.lengths_ns;
  end.first_ns = 110;
  const FileEvidence early = reading_of({begin});
  const FileEvidence late = reading_of({end, thread(12, 30, 110, 5)});
  CHECK(held({early, whole, late}, true) == "0 in 1\n2 in 1\n");
  CHECK(held({early, whole}, true) == "");
  // Files of other times are cycles of the rank.
  CHECK(held({whole, reading_of({thread(11, 40, 300, 7)})}, true) == "");
}

TEST_CASE("contents: a thread is one, whatever the text of its ids") {
  ThreadTallier tallier;
  ThreadTallies threads;
  const std::string text =
      R"({"ph":"X","name":"a","ts":1,"dur":2,"pid":7,"tid":1},{"ph":"X","name":"a","ts":2,"dur":3,)"
      R"("pid":"7","tid":"1"},{"ph":"C","name":"c","ts":5,"pid":7,"args":{"v":1}}])";
  ProblemCounts problems;
  EventScanner scanner;
  scanner.start(text, 0, Position::first, problems);
  while (const Event* event = scanner.next()) tallier.add(*event, time_event(*event, problems));
  threads.append(tallier);
  REQUIRE(threads.all.size() == 2);
  const ThreadTally& row = threads.all[threads.all[0].pid == 0 ? 1 : 0];
  CHECK(row.events == 2);
  CHECK(row.first_ns == 1000);
  CHECK(row.sum_ns == 3000);
  CHECK(row.lengths_ns == 5000);
  CHECK(threads.is_complete);
}
