#include "merge/archive_merge.h"
#include "oracle/json_value.h"

#include <doctest/doctest.h>

using namespace traceloom;

TEST_CASE("perfetto_manifest: one machine a rank, each clock by what it differs from the first") {
  const std::string text = perfetto_manifest(
      {{0, "rank00.json", 0}, {3, "rank03.json", 2'676'001}, {12, "rank12.json", 0}},
      1'795'202'969'005'000'000);
  const oracle::Json document = oracle::parse_json(text);
  const oracle::Json& manifest = *document.find("perfetto_manifest");
  CHECK(manifest.find("version")->text == "1");
  CHECK(manifest.find("attributes")->find("traceloom.origin_unix_ns")->text ==
        "1795202969005000000");
  CHECK(manifest.find("attributes")->find("traceloom.version")->kind == oracle::Json::Kind::string);
  CHECK(
      canonical_text(*manifest.find("files")) ==
      R"([{"machine":{"name":"rank 0"},"path":"rank00.json"},)"
      R"({"clocks":{"offset_ns":2676001,"sync_to":{"file":"rank00.json"}},"machine":{"name":"rank 3"},"path":"rank03.json"},)"
      R"({"clocks":{"offset_ns":0,"sync_to":{"file":"rank00.json"}},"machine":{"name":"rank 12"},"path":"rank12.json"}])");
}

// Perfetto looks for the key only after white space.
TEST_CASE("perfetto_manifest: begins with its key") {
  CHECK(perfetto_manifest({{0, "rank0.json", 0}}, 0).starts_with("{\n  \"perfetto_manifest\": {"));
}
