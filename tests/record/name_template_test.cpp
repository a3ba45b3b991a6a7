#include "record/names/name_template.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;
using namespace traceloom::record;

namespace {

const RunIdentity kRun{
    "gpt", {.rank = 11, .local_rank = 3, .world_size = 16, .local_world_size = 8, .node_rank = 1}};

Position position() {
  Position at;
  at.epoch = 1;
  at.batch = 21;
  at.batch_in_epoch = 5;
  at.sample = 672;
  at.sample_in_epoch = 160;
  at.token = 86016;
  at.token_in_epoch = 20480;
  at.total_wct = 36000;
  at.epoch_wct = 1e22;
  at.batch_wct = 0.125;
  return at;
}

std::string expand(std::string_view text) {
  return NameTemplate(text).expand(kRun, position());
}

NameTemplate::Owner owner(std::string_view text, std::string_view name) {
  return NameTemplate(text).owner_of(name, kRun);
}

}  // namespace

TEST_CASE("name_template: every placeholder of Composer's") {
  CHECK(expand("{run_name}") == "gpt");
  CHECK(expand("{rank} {local_rank} {world_size} {local_world_size} {node_rank}") == "11 3 16 8 1");
  CHECK(expand("{epoch} {batch} {batch_in_epoch}") == "1 21 5");
  CHECK(expand("{sample} {sample_in_epoch} {token} {token_in_epoch}") == "672 160 86016 20480");
  CHECK(expand("total_wct={total_wct}") == "total_wct=36000.0");
  CHECK(expand("{epoch_wct} {batch_wct}") == "10000000000000000000000.0 0.125");
  CHECK(expand(kDefaultFileName) == "ep1-ba21-rank11.json");
  CHECK(NameTemplate(kDefaultFolder).expand(kRun) == "gpt/traces");
  CHECK(NameTemplate(kDefaultMergedName).expand(kRun) == "node1.json");
}

TEST_CASE("name_template: what is unknown, or known at a position only, stays as it is") {
  CHECK(expand("{x}-{}-{rank}") == "{x}-{}-11");
  CHECK(NameTemplate("{run_name}/{epoch}").expand(kRun) == "gpt/{epoch}");
  CHECK(expand("a{rank") == "a{rank");
  CHECK(expand("a}b{{rank}}") == "a}b{rank}");
  CHECK(expand("{rank:x}{rank:40}{batch:4}") == "{rank:x}{rank:40}{batch:4}");
  CHECK(expand("") == "");
}

TEST_CASE("name_template: whole numbers are filled up on demand") {
  CHECK(expand("ba{batch:06}-{rank:03d}") == "ba000021-011");
  CHECK(expand("{batch_wct:04} {run_name:04}") == "{batch_wct:04} {run_name:04}");
}

TEST_CASE("name_template: knows whether it tells ranks apart") {
  CHECK(NameTemplate("{rank}.json").tells_ranks());
  CHECK(NameTemplate("{rank:04}.json").tells_ranks());
  CHECK(NameTemplate("n{node_rank}-{local_rank}").tells_ranks());
  CHECK_FALSE(NameTemplate("{local_rank}.json").tells_ranks());
  CHECK_FALSE(NameTemplate("{{rank}}.json").tells_ranks());
  CHECK_FALSE(NameTemplate("ep{epoch}.json").tells_ranks());
}

TEST_CASE("name_template: knows which rank of the run made a name") {
  using Owner = NameTemplate::Owner;
  CHECK(owner(kDefaultFileName, "ep0-ba5-rank11.json") == Owner::this_rank);
  CHECK(owner(kDefaultFileName, "ep0-ba5-rank1.json") == Owner::other_rank);
  CHECK(owner(kDefaultFileName, "ep123-ba5000-rank15.json") == Owner::other_rank);
  CHECK(owner(kDefaultFileName, "ep0-ba5-rank16.json") == Owner::nobody);  // 16 ranks: 0 to 15
  CHECK(owner(kDefaultFileName, "ep0-ba5-rank.json") == Owner::nobody);
  CHECK(owner(kDefaultFileName, "ep0-ba5-rank1.json.gz") == Owner::nobody);
  CHECK(owner(kDefaultFileName, "notes.txt") == Owner::nobody);
  CHECK(owner("{total_wct}-{rank}", "3.25-2") == Owner::other_rank);
  // Numbers side by side may be parted in any way.
  CHECK(owner("{batch}{rank}", "1211") == Owner::this_rank);
  CHECK(owner("{run_name}-{world_size}-{rank}", "gpt-16-0") == Owner::other_rank);
  CHECK(owner("{run_name}-{world_size}-{rank}", "bert-16-0") == Owner::nobody);
}
