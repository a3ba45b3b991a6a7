// These tests check PlanOptions::shared_flows: arrows that lead from rank to rank.
#include "merge/facts/ids.h"
#include "support/merged_case.h"
#include "support/print_texts.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace traceloom;

namespace {

// A call leads from rank 0 to rank 1, and each has an arrow of its own, all with the same id.
const std::string kCaller =
    R"([{"ph":"s","ts":1,"pid":1,"tid":1,"cat":"rpc","name":"call","id":7},
        {"ph":"s","ts":1,"pid":1,"tid":1,"cat":"ac2g","name":"call","id":7},
        {"ph":"f","ts":2,"pid":1,"tid":1,"cat":"ac2g","name":"call","id":7,"bp":"e"}])";
const std::string kCalled =
    R"([{"ph":"f","ts":3,"pid":1,"tid":1,"cat":"a,rpc","name":"call","id":7,"bp":"e"},
        {"ph":"s","ts":3,"pid":1,"tid":1,"cat":"ac2g","name":"call","id":7},
        {"ph":"f","ts":4,"pid":1,"tid":1,"cat":"ac2g","name":"call","id":7,"bp":"e"}])";

PlanOptions shared(std::vector<std::string> categories) {
  PlanOptions options;
  options.shared_flows = std::move(categories);
  return options;
}

Texts ids(const MergedCase& merged) {
  Texts found;
  for (const std::string& line : merged.events())
    found.push_back(canonical_text(*oracle::parse_json(line).find("id")));
  return found;
}

// Returns two ranks that have one flow event of this id each.
NamedTexts files_of(std::string_view id) {
  const std::string event =
      R"("ts":1,"pid":1,"tid":1,"cat":"rpc","name":"call","id":)" + std::string(id) + "}]";
  return {{"rank0.json", R"([{"ph":"s","name":"a","cat":"c",)" + event},
          {"rank1.json", R"([{"ph":"f","name":"a","cat":"c",)" + event}};
}

}  // namespace

TEST_CASE("shared_flows: ids of the categories mean the same in all files, all others in theirs") {
  const NamedTexts files{{"rank0.json", kCaller}, {"rank1.json", kCalled}};
  CHECK(ids(MergedCase(files)) == Texts{"7", "7", "7", "17", "17", "17"});
  CHECK(ids(MergedCase(files, shared({"rpc"}))) == Texts{"7", "7", "7", "7", "17", "17"});
  CHECK(ids(MergedCase(files, shared({"other", "ac2g"}))) == Texts{"7", "7", "7", "17", "7", "7"});
}

TEST_CASE("shared_flows: ids of any kind are whole numbers that JavaScript has") {
  for (const std::string_view id :
       {R"("0x7f")", "-3", "1.5", "0", "9007199254740992", R"("call 1")", "123456789012345678"}) {
    CAPTURE(id);
    const Texts found = ids(MergedCase(files_of(id), shared({"rpc"})));
    REQUIRE(found.size() == 2);
    CHECK(found[0] == found[1]);
    const std::uint64_t number = std::stoull(found[0]);
    CHECK(number >= (std::uint64_t{1} << 52));
    CHECK(number < (std::uint64_t{1} << 53));
  }
  for (const std::string id : {"1", "4503599627370497", "9007199254740991"})
    CHECK(ids(MergedCase(files_of(id), shared({"rpc"}))) == Texts{id, id});
  CHECK(ids(MergedCase(files_of("7.0"), shared({"rpc"}))) == Texts{"7", "7"});
  CHECK(shared_id_number("\"7\"") != shared_id_number("7"));
}

TEST_CASE("shared_flows: merges of several nodes, merged again, still fit together") {
  const NamedTexts files = files_of(R"("call 1")");
  const MergedCase whole(files, shared({"rpc"}));
  const MergedCase first(NamedTexts{files[0]}, shared({"rpc"}));
  const MergedCase second(NamedTexts{files[1]}, shared({"rpc"}));
  const MergedCase again(NamedTexts{{"node0.json", first.text()}, {"node1.json", second.text()}},
                         shared({"rpc"}));
  CHECK(ids(again) == ids(whole));
  CHECK(ids(MergedCase(NamedTexts{{"all.json", whole.text()}}, shared({"rpc"}))) == ids(whole));
  CHECK(ids(MergedCase(NamedTexts{{"all.json", whole.text()}})) == ids(whole));
}

TEST_CASE("shared_flows: are counted, so that a category that none has can be told") {
  CHECK(MergedCase(files_of("7"), shared({"rpc"})).summary().shared_flows == 2);
  CHECK(MergedCase(files_of("7"), shared({"rcp", "RPC"})).summary().shared_flows == 0);
}
