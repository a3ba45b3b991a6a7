#include "identity/clocks/collective_matches.h"
#include "identity/collective_texts.h"
#include "identity/evidence/event_marks.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;
using Side = CollectiveMarks::Side;

namespace {

using Words = std::vector<std::string>;

// "all 3: 7@10000-15000 8@..." of each kind: its side, how many, and the rounds that are kept.
Words shown(const FileEvidence& evidence) {
  Words words;
  for (const auto& [key, kind] : evidence.collectives.kinds()) {
    std::string text = kind.side == Side::all    ? "all"
                       : kind.side == Side::send ? "send"
                                                 : "receive";
    text += fmt::format(" {}:", kind.count);
    for (const CollectiveMarks::Round& round : kind.rounds)
      text += fmt::format(" {}@{}-{}", round.number, round.begin_ns, round.end_ns);
    words.push_back(text);
  }
  return words;
}

std::string message(std::string_view name, std::int64_t ts_us, std::int64_t dur_us, int source,
                    int target, std::string_view ranks = "[4, 6]") {
  return kernel(ts_us, dur_us,
                fmt::format(R"("Collective name":"{}","Process Group Name":"pp",)"
                            R"("Process Group Ranks":"{}","Src Rank":{},"Dst Rank":{},"Seq":1)",
                            name, ranks, source, target),
                "ncclDevKernel_SendRecv");
}

std::vector<CollectiveRound> matched(const std::vector<FileEvidence>& files,
                                     const std::vector<std::int64_t>& ranks) {
  const TimeMap times;
  std::vector<MarkedFile> marked;
  for (std::size_t i = 0; i < files.size(); ++i)
    marked.push_back({ranks[i], "", &files[i].collectives, &times});
  return match_rounds(marked);
}

// "0:10000-15000 1:..." of each, "message" before it where it is one.
Words shown(const std::vector<CollectiveRound>& rounds) {
  Words words;
  for (const CollectiveRound& round : rounds) {
    std::string text = round.is_message ? "message" : "";
    for (const RoundPart& part : round.parts)
      text += fmt::format("{}{}:{}-{}", text.empty() ? "" : " ", part.clock, part.begin_ns,
                          part.end_ns);
    words.push_back(text);
  }
  return words;
}

}  // namespace

TEST_CASE("collective_marks: kernels of collectives count by their Seq, gloo's ranges by order") {
  CHECK(shown(collectives_of(all_reduce(10, 5, 7) + all_reduce(20, 5, 9))) ==
        Words{"all 2: 7@10000-15000 9@20000-25000"});
  CHECK(shown(collectives_of(gloo_all_reduce(10, 5, "[[3]]") + gloo_all_reduce(20, 5, "[[4]]") +
                             gloo_all_reduce(30, 5, "[[3]]"))) ==
        Words{"all 2: 0@10000-15000 1@30000-35000", "all 1: 0@20000-25000"});
}

TEST_CASE("collective_marks: what need not wait for all, or only starts it, is none") {
  const auto named = [](std::string_view name) {
    return kernel(1, 2, fmt::format(R"("Collective name":"{}")", name));
  };
  CHECK(shown(collectives_of(named("broadcast") + named("gather") + named("reduce"))).empty());
  CHECK(shown(collectives_of(named("_allgather_base"))) == Words{"all 1: 0@1000-3000"});
  CHECK(shown(collectives_of(kernel(1, 2,
                                    R"("Collective name":"all_to_all",)"
                                    R"("In split size":"[4, 0]")")))
            .empty());
  CHECK(shown(collectives_of(kernel(1, 2,
                                    R"("Collective name":"all_to_all",)"
                                    R"("In split size":"[4, 10]")")))
            .size() == 1);
  // Launched by the host, and a SendRecv that does not say what it is.
  CHECK(shown(collectives_of(R"({"ph":"X","cat":"user_annotation","name":"nccl:all_reduce",)"
                             R"("pid":0,"tid":7,"ts":1,"dur":2,"args":{}},)"))
            .empty());
  CHECK(shown(collectives_of(kernel(1, 2, "", "ncclDevKernel_SendRecv"))).empty());
}

TEST_CASE("collective_marks: of many every second is kept, by numbers that all ranks share") {
  std::string text;
  for (int i = 0; i < 600; ++i) text += all_reduce(10 * i, 5, i);
  const FileEvidence file = collectives_of(text);
  const CollectiveMarks::Kind& kind = file.collectives.kinds().begin()->second;
  CHECK(kind.count == 600);
  CHECK(kind.every == 2);
  CHECK(kind.rounds.size() == 300);
  CHECK(kind.rounds[299].number == 598);
}

TEST_CASE("collective_marks: many of one number, as in merges of many ranks, say nothing") {
  std::string text;
  for (int i = 0; i < 600; ++i) text += all_reduce(10 * i, 5, 0);
  const FileEvidence file = collectives_of(text);
  const CollectiveMarks::Kind& kind = file.collectives.kinds().begin()->second;
  CHECK(kind.count == 600);
  CHECK_FALSE(kind.is_whole);
  CHECK(kind.rounds.empty());
}

TEST_CASE("collective_marks: without Seq the order of time counts, and none where that is lost") {
  CHECK(shown(matched(
            {collectives_of(gloo_all_reduce(30, 5, "[[3]]") + gloo_all_reduce(10, 5, "[[3]]")),
             collectives_of(gloo_all_reduce(110, 5, "[[3]]") + gloo_all_reduce(130, 5, "[[3]]"))},
            {0, 1})) == Words{"0:10000-15000 1:110000-115000", "0:30000-35000 1:130000-135000"});
  std::string text;
  for (int i = 600; i > 0; --i) text += gloo_all_reduce(10 * i, 5, "[[3]]");
  const FileEvidence many = collectives_of(text);
  CHECK_FALSE(many.collectives.kinds().begin()->second.is_whole);
  CHECK(matched({many, many}, {0, 1}).empty());
}

TEST_CASE("collective_matches: by group and Seq; what one file has twice says nothing") {
  CHECK(shown(matched({collectives_of(all_reduce(10, 5, 7) + all_reduce(20, 5, 8)),
                       collectives_of(all_reduce(90, 5, 8) + all_reduce(99, 1, 9))},
                      {0, 1})) == Words{"0:20000-25000 1:90000-95000"});
  CHECK(matched({collectives_of(all_reduce(10, 5, 7) + all_reduce(20, 5, 7)),
                 collectives_of(all_reduce(90, 5, 7))},
                {0, 1})
            .empty());
}

TEST_CASE("collective_matches: ranks that share a clock have one part, from the last that came") {
  const FileEvidence merged =
      collectives_of(all_reduce(10, 25, 7) + all_reduce(14, 20, 7) + all_reduce(50, 5, 8) +
                     all_reduce(60, 5, 8) + gloo_all_reduce(70, 5, "[[3]]"));
  const FileEvidence one = collectives_of(all_reduce(90, 5, 7) + all_reduce(99, 5, 8) +
                                          gloo_all_reduce(110, 5, "[[3]]"));
  const TimeMap times;
  // Of Seq 8 one rank had left before the other had come: that is none.
  CHECK(shown(match_rounds(
            {{0, "", &merged.collectives, &times, true}, {2, "", &one.collectives, &times}})) ==
        Words{"0:14000-34000 1:90000-95000"});
}

TEST_CASE("collective_matches: without Seq only files that have as many") {
  CHECK(matched({collectives_of(gloo_all_reduce(10, 5, "[[3]]") + gloo_all_reduce(20, 5, "[[3]]")),
                 collectives_of(gloo_all_reduce(10, 5, "[[3]]"))},
                {0, 1})
            .empty());
}

TEST_CASE("collective_matches: messages by order, the sender first") {
  const FileEvidence sender = collectives_of(message("send", 10, 5, 6, 4));
  const FileEvidence receiver = collectives_of(message("recv", 110, 9, 6, 4));
  CHECK(shown(matched({receiver, sender}, {4, 6})) ==
        Words{"message 1:10000-15000 0:110000-119000"});
  // With the ranks exchanged, no rank waits for the message.
  CHECK(matched({receiver, sender}, {6, 4}).empty());
}

TEST_CASE("collective_matches: the other end of a message may be its place in the group") {
  const FileEvidence sender = collectives_of(message("send", 10, 5, 1, 0));
  const FileEvidence receiver = collectives_of(message("recv", 110, 9, 1, 0));
  CHECK(shown(matched({receiver, sender}, {4, 6})) ==
        Words{"message 1:10000-15000 0:110000-119000"});
}
