#include "identity/repeats/repeats.h"

#include "base/problems.h"
#include "identity/read_inputs.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

using Strings = std::vector<std::string>;

struct RepeatedFile {
  std::string path;
  FileEvidence evidence;
  std::vector<std::size_t> found_by = {0};  // none: named by hand
};

EventTally tally_of(std::uint64_t events, std::int64_t first_ns, std::int64_t last_ns,
                    std::uint64_t first_event = 7) {
  const auto sum = events * static_cast<std::uint64_t>(first_ns + last_ns) / 2;
  return {{events, first_ns, last_ns, sum, 4 * events}, first_event};
}

// Makes evidence as Composer writes it: the thread is 100 + rank.
FileEvidence composer(std::int64_t rank, std::int64_t sync_us, const EventTally& tally) {
  FileEvidence evidence;
  const std::string pid = std::to_string(rank);
  const std::string tid = std::to_string(100 + rank);
  evidence.rank_marks.add({rank, pid, 5, tid});
  if (sync_us > 0) evidence.syncs.add({sync_us, pid, 9, tid});
  evidence.tally = tally;
  return evidence;
}

// Makes evidence as Composer's merger writes it; the first file is that of the lowest rank.
FileEvidence composers_merge(const std::vector<FileEvidence>& files) {
  FileEvidence merge;
  for (const FileEvidence& file : files) {
    merge.rank_marks.add(file.rank_marks);
    merge.syncs.add(file.syncs);
    EventTally moved = file.tally;
    const std::int64_t shift_ns =
        (files.front().sync_us().value_or(0) - file.sync_us().value_or(0)) * 1000;
    moved.first_ns += shift_ns;
    moved.last_ns += shift_ns;
    merge.tally.append(moved);
  }
  return merge;
}

MergedInput note_of(std::int64_t rank, const EventTally& tally, const std::string& path = "x") {
  MergedInput input;
  input.rank = rank;
  input.path = path;
  input.has_clock = true;
  input.events = tally.events;
  input.tally = tally;
  return input;
}

FileEvidence our_merge(std::vector<MergedInput> inputs) {
  FileEvidence merge;
  merge.merged_by = "0.1.0";
  for (const MergedInput& input : inputs) {
    const std::string pid = std::to_string(input.rank);
    merge.rank_marks.add({input.rank, pid, 5, pid});
    if (input.tally) merge.tally.append(*input.tally);
  }
  merge.tally.first_event = 1;
  merge.inputs = std::move(inputs);
  return merge;
}

// Returns "path: why" for each repeat, or the text of the Error.
Strings repeats_of(const std::vector<RepeatedFile>& files) {
  ReadInputs inputs;
  for (const RepeatedFile& file : files)
    inputs.add({.path = file.path,
                .forced_rank = std::nullopt,
                .is_named = file.found_by.empty(),
                .found_by = file.found_by},
               file.evidence);
  Strings found;
  try {
    for (const Repeat& repeat : find_repeats(inputs.all()))
      found.push_back(files[repeat.file].path + ": " + repeat.words);
  } catch (const Error& error) {
    found.emplace_back(error.what());
  }
  return found;
}

const EventTally kA = tally_of(10, 1000, 9000);
const EventTally kB = tally_of(12, 1000, 9000);
const EventTally kC = tally_of(14, 1000, 9000);

}  // namespace

TEST_CASE("repeats: a copy is left out, whatever it is called") {
  const FileEvidence a = composer(0, 5, kA);
  CHECK(repeats_of({{"d/a.json", a}, {"d/rank0.json", composer(1, 5, kA)}}) == Strings{});
  CHECK(repeats_of({{"d/a.json", a}, {"d/b.json", a}, {"d/c.json.gz", a}}) ==
        Strings{"d/b.json: it is a copy of d/a.json", "d/c.json.gz: it is a copy of d/a.json"});
  CHECK(repeats_of({{"d/a.json", a}, {"d/b.json", composer(0, 6, kA)}}) == Strings{});
  CHECK(repeats_of({{"d/a.json", a}, {"d/b.json", composer(0, 5, kB)}}) == Strings{});
  // Starts alone prove little if they are whole milliseconds.
  EventTally longer = kA;
  longer.lengths_ns += 1;
  CHECK(repeats_of({{"d/a.json", a}, {"d/b.json", composer(0, 5, longer)}}) == Strings{});
  // The file that names its rank stays, and so does the file that the user named.
  FileEvidence plain;
  plain.tally = kA;
  CHECK(repeats_of({{"d/copy.json", plain}, {"d/rank3.json", plain}}) ==
        Strings{"d/copy.json: it is a copy of d/rank3.json"});
  CHECK(repeats_of({{"d/rank2.json", plain}, {"d/rank3.json", plain}}) == Strings{});
  // A file with another rank or clock is no copy.
  CHECK(repeats_of({{"d/a.json", a}, {"d/b.json", plain}}) == Strings{});
  FileEvidence other_base = plain;
  other_base.base_ns = 5;
  CHECK(repeats_of({{"d/rank3.json", other_base}, {"d/rank3.gz.json", plain}}) == Strings{});
  CHECK(repeats_of({{"d/empty.json", {}}, {"d/empty2.json", {}}}) == Strings{});
}

TEST_CASE("repeats: what was named twice is an error") {
  const FileEvidence a = composer(0, 5, kA);
  CHECK(repeats_of({{"a.json", a, {}}, {"b.json", a, {}}}) ==
        Strings{"b.json: it is a copy of a.json, and its events would count twice; leave one or "
                "the other out"});
  // One file was found in a folder and one was named by hand; then both were found in folders.
  CHECK(repeats_of({{"d/a.json", a}, {"b.json", a, {}}})[0].starts_with("d/a.json: it is a copy"));
  CHECK(repeats_of({{"d/a.json", a}, {"e/b.json", a, {1}}})[0].starts_with("e/b.json: it is a"));
  CHECK(repeats_of({{"d/a.json", a, {0, 1}}, {"d/e/b.json", a, {0}}}) ==
        Strings{"d/e/b.json: it is a copy of d/a.json"});
  const std::vector<RepeatedFile> files{{"m.json", our_merge({note_of(0, kA), note_of(1, kB)}), {}},
                                        {"d/0.json", composer(0, 5, kA)},
                                        {"d/1.json", composer(1, 5, kB)}};
  CHECK(repeats_of(files) ==
        Strings{"m.json: it is a merge of d/0.json and 1 more of the inputs, and its events would "
                "count twice; leave one or the other out"});
}

TEST_CASE("repeats: a merge of ours is known by what it has noted of its inputs") {
  const RepeatedFile a{"d/0.json", composer(0, 5, kA)};
  const RepeatedFile b{"d/1.json", composer(1, 5, kB)};
  const RepeatedFile c{"d/2.json", composer(2, 5, kC)};
  const RepeatedFile merge{"d/m.json", our_merge({note_of(0, kA), note_of(1, kB)})};
  CHECK(repeats_of({a, b, c, merge}) ==
        Strings{"d/m.json: it is a merge of d/0.json and 1 more of the inputs"});
  CHECK(repeats_of({merge, c}) == Strings{});
  CHECK(repeats_of({merge}) == Strings{});
  // It holds more than the others.
  CHECK(repeats_of({a, c, merge}) == Strings{"d/0.json: all of it is in d/m.json"});
  // With another rank it is another file with the same times.
  CHECK(repeats_of({{"d/7.json", composer(7, 5, kA)}, merge}) == Strings{});
  // Unless the rank was but a place.
  MergedInput placed = note_of(7, kA);
  placed.says_rank = false;
  CHECK(repeats_of({a, {"d/m.json", our_merge({placed})}}) ==
        Strings{"d/m.json: it is a merge of d/0.json"});
}

TEST_CASE("repeats: merges of the same, of some and of others") {
  const RepeatedFile a{"d/0.json", composer(0, 5, kA)};
  const FileEvidence node0 = our_merge({note_of(0, kA), note_of(1, kB)});
  FileEvidence again = node0;
  again.tally.first_ns += 5;
  CHECK(repeats_of({{"d/m.json", node0}, {"d/n.json", again}}) ==
        Strings{"d/n.json: all of it is in d/m.json"});
  CHECK(repeats_of({{"d/node0.json", node0}, {"d/node1.json", our_merge({note_of(2, kC)})}}) ==
        Strings{});
  // A merge of merges has noted what these have noted.
  const FileEvidence all = our_merge({note_of(0, kA), note_of(1, kB), note_of(2, kC)});
  CHECK(repeats_of({{"d/all.json", all},
                    {"d/node0.json", node0},
                    {"d/node1.json", our_merge({note_of(2, kC)})}}) ==
        Strings{"d/all.json: all of it is in d/node0.json and 1 more of the inputs"});
  CHECK(repeats_of({{"d/all.json", all}, {"d/node0.json", node0}, a}) ==
        Strings{"d/node0.json: all of it is in d/all.json and 1 more of the inputs",
                "d/0.json: all of it is in d/all.json"});
  // Neither file holds all events of the other.
  CHECK(repeats_of(
            {{"d/m.json", node0}, {"d/n.json", our_merge({note_of(1, kB), note_of(2, kC)})}}) ==
        Strings{"d/n.json: d/m.json holds events of it as well, and neither holds all of the "
                "other; leave one of the two out"});
}

TEST_CASE("repeats: a part of a merge takes the place of nothing") {
  const RepeatedFile a{"d/0.json", composer(0, 5, kA)};
  std::vector<MergedInput> notes{note_of(0, kA), note_of(1, kB)};
  const FileEvidence whole = our_merge(notes);
  for (MergedInput& note : notes) note.is_part = true;
  FileEvidence part = our_merge(notes);
  part.tally = tally_of(3, 2000, 4000);
  CHECK(repeats_of({a, {"d/1.json", composer(1, 5, kB)}, {"d/part.json", part}}) ==
        Strings{"d/part.json: it is a merge of d/0.json and 1 more of the inputs"});
  CHECK(repeats_of({{"d/part.json", part}, {"d/whole.json", whole}}) ==
        Strings{"d/part.json: all of it is in d/whole.json"});
  CHECK(repeats_of({a, {"d/part.json", part}}) ==
        Strings{"d/0.json: d/part.json holds events of it as well, and neither holds all of the "
                "other; leave one of the two out"});
  // Two parts of other times are no repeats.
  FileEvidence later = part;
  later.tally = tally_of(3, 5000, 6000);
  CHECK(repeats_of({{"d/part.json", part}, {"d/later.json", later}}) == Strings{});
  later.tally = tally_of(3, 3000, 6000);
  CHECK(repeats_of({{"d/part.json", part}, {"d/later.json", later}}).size() == 1);
}

TEST_CASE("repeats: parts that share no event by their filters are no repeats") {
  std::vector<MergedInput> notes{note_of(0, kA), note_of(1, kB)};
  for (MergedInput& note : notes) note.is_part = true;
  std::uint64_t events = 3;  // no two are copies
  const auto part = [&](const std::string& filter) {
    FileEvidence evidence = our_merge(notes);
    evidence.tally = tally_of(++events, 2000, 4000);
    evidence.filter = read_noted_filter(JsonDocument("{\"filter\": " + filter + "}").root());
    return evidence;
  };
  const auto are_apart = [&](const std::string& a, const std::string& b) {
    const Strings said = repeats_of({{"d/a.json", part(a)}, {"d/b.json", part(b)}});
    return said.empty();
  };
  CHECK(are_apart(R"({"steps": [null, 5]})", R"({"steps": [6, null]})"));
  CHECK(are_apart(R"({"steps": [7, 7]})", R"({"steps": [null, 6]})"));
  CHECK_FALSE(are_apart(R"({"steps": [null, 6]})", R"({"steps": [6, null]})"));
  CHECK_FALSE(are_apart(R"({"steps": [null, 6]})", R"({"steps": [null, 3]})"));
  CHECK(are_apart(R"({"categories": ["kernel"]})", R"({"exclude_categories": ["x", "kernel"]})"));
  CHECK(are_apart(R"({"exclude_categories": ["kernel"]})", R"({"categories": ["kernel"]})"));
  CHECK_FALSE(are_apart(R"({"categories": ["kernel", "y"]})", R"({"exclude_categories": ["y"]})"));
  CHECK(are_apart(R"({"categories": ["kernel"]})", R"({"categories": ["cpu_op", "ac2g"]})"));
  CHECK_FALSE(are_apart(R"({"categories": ["kernel"]})", R"({"categories": ["y", "kernel"]})"));
  CHECK(are_apart(R"({"names": ["^aten"]})", R"({"exclude_names": ["^aten"]})"));
  // Two expressions may find one name.
  CHECK_FALSE(are_apart(R"({"names": ["^aten"]})", R"({"names": ["mm$"]})"));
  CHECK_FALSE(are_apart(R"({"min_duration_ns": 5})", R"({"steps": [6, null]})"));
  // A merge of parts has noted no filter of its own.
  FileEvidence unknown = part("{}");
  unknown.filter.reset();
  CHECK(repeats_of({{"d/a.json", part(R"({"steps": [6, null]})")}, {"d/b.json", unknown}}) ==
        Strings{"d/b.json: d/a.json holds events of it as well, and neither holds all of the "
                "other; leave one of the two out"});
}

TEST_CASE("repeats: of a merge that noted no tallies") {
  constexpr std::int64_t kNow = 1'795'202'294'140'462'000;
  const EventTally now = tally_of(10, kNow + 4000, kNow + 9000);
  MergedInput note = note_of(0, kA, "run/rank0.json");
  note.tally.reset();
  note.offset_ns = -4000;
  FileEvidence merge = our_merge({note});
  merge.base_ns = kNow;
  merge.tally = tally_of(10, 0, 5000);
  const std::string found = "it is a merge of ";
  const auto words = [&](const std::string& path, const FileEvidence& file) {
    return repeats_of({{path, file}, {"d/m.json", merge}});
  };
  CHECK(words("d/rank0.json", composer(0, 5, now)) ==
        Strings{"d/m.json: it is a merge of d/rank0.json"});
  // The file is recognised by the number of events, or by the name.
  CHECK(words("d/x.json", composer(0, 5, now)).size() == 1);
  CHECK(words("d/x.json", composer(0, 5, tally_of(11, kNow + 4000, kNow + 9000))).empty());
  CHECK(words("d/rank0.json", composer(0, 5, tally_of(11, kNow + 4000, kNow + 9000))).size() == 1);
  // With another time or another rank it is not recognised.
  CHECK(words("d/rank0.json", composer(0, 5, tally_of(10, kNow + 10'000, kNow + 20'000))).empty());
  CHECK(words("d/rank0.json", composer(1, 5, now)).empty());
  // If times begin with 0 in every file, a name proves nothing.
  merge.base_ns = 0;
  CHECK(words("d/rank0.json", composer(0, 5, tally_of(11, 4000, 9000))).empty());
  CHECK(words("d/rank0.json", composer(0, 5, tally_of(10, 4000, 9000))).size() == 1);
}

TEST_CASE("repeats: a file that was written on after it was merged") {
  EventTally grown = tally_of(20, 1000, 15'000);
  CHECK(repeats_of(
            {{"d/0.json", composer(0, 5, grown)}, {"d/m.json", our_merge({note_of(0, kA)})}}) ==
        Strings{"d/m.json: it is a merge of d/0.json"});
  grown.first_event = 8;
  CHECK(repeats_of({{"d/0.json", composer(0, 5, grown)},
                    {"d/m.json", our_merge({note_of(0, kA)})}}) == Strings{});
}

TEST_CASE("repeats: Composer's merge is known by its threads and clock syncs") {
  const FileEvidence a = composer(0, 5, kA);
  const FileEvidence b = composer(1, 7, kB);
  const RepeatedFile rank0{"d/ep0-rank0.json", a};
  const RepeatedFile rank1{"d/ep0-rank1.json", b};
  const RepeatedFile merge{"d/node0.json", composers_merge({a, b})};
  CHECK(repeats_of({rank0, rank1, merge}) ==
        Strings{"d/node0.json: it is a merge of d/ep0-rank0.json and 1 more of the inputs"});
  CHECK(repeats_of({merge, rank1}) == Strings{"d/ep0-rank1.json: all of it is in d/node0.json"});
  CHECK(repeats_of({merge}) == Strings{});
  // The next cycle, another time of the same sync, another job.
  CHECK(repeats_of({{"d/ep1-rank1.json", composer(1, 70, kB)}, merge}) == Strings{});
  CHECK(repeats_of({{"d/ep1-rank1.json", composer(1, 7, tally_of(12, 20'000, 30'000))}, merge}) ==
        Strings{});
  FileEvidence other = b;
  other.rank_marks = {};
  other.rank_marks.add({1, "1", 5, "999"});
  CHECK(repeats_of({{"d/ep0-rank1.json", other}, merge}) == Strings{});
  // It holds events of files that have no stamps as well.
  FileEvidence more = composers_merge({a, b});
  more.tally.events += 100;
  CHECK(repeats_of({rank0, rank1, {"d/node0.json", more}}) ==
        Strings{"d/ep0-rank0.json: all of it is in d/node0.json",
                "d/ep0-rank1.json: all of it is in d/node0.json"});
}

TEST_CASE("repeats: a merge of Composer's merge, and what a rank wrote without a sync") {
  const FileEvidence a = composer(0, 5, kA);
  const FileEvidence b = composer(1, 7, kB);
  const FileEvidence node = composers_merge({a, b});
  const FileEvidence ours = our_merge({note_of(0, node.tally), note_of(1, node.tally)});
  CHECK(repeats_of(
            {{"d/0.json", a}, {"d/1.json", b}, {"d/node0.json", node}, {"d/all.json", ours}}) ==
        Strings{"d/node0.json: it is a merge of d/0.json and 1 more of the inputs",
                "d/all.json: it is a merge of d/0.json and 1 more of the inputs"});
  const FileEvidence late = composer(0, 0, tally_of(3, 5000, 6000));
  CHECK(repeats_of({{"d/0.json", a},
                    {"d/0b.json", late},
                    {"d/1.json", b},
                    {"d/node0.json", composers_merge({a, b, late})}})
            .size() == 1);
}
