#include "merge/archive/perfetto_manifest.h"

#include "output/json_writer.h"

#include <fmt/format.h>

namespace traceloom {
namespace {

constexpr int kIndent = 2;

void write_file(JsonWriter& json, const ArchivedRank& rank, const ArchivedRank& first) {
  json.begin_object();
  json.key("path");
  json.value(rank.path);
  json.key("machine");
  json.begin_object();
  json.key("name");
  json.value(fmt::format("rank {}", rank.rank));
  json.end_object();
  if (&rank != &first) {
    json.key("clocks");
    json.begin_object();
    json.key("sync_to");
    json.begin_object();
    json.key("file");
    json.value(first.path);
    json.end_object();
    json.key("offset_ns");
    json.value(rank.offset_ns);
    json.end_object();
  }
  json.end_object();
}

}  // namespace

std::string perfetto_manifest(const std::vector<ArchivedRank>& ranks, std::int64_t origin_ns) {
  std::string text;
  JsonWriter json(text, kIndent);
  json.begin_object();
  // Perfetto recognizes a manifest by this key at its very beginning.
  json.key("perfetto_manifest");
  json.begin_object();
  json.key("version");
  json.value(1);
  json.key("attributes");
  json.begin_object();
  json.key("traceloom.version");
  json.value(TRACELOOM_VERSION);
  json.key("traceloom.origin_unix_ns");
  json.value(origin_ns);
  json.end_object();
  json.key("files");
  json.begin_array();
  for (const ArchivedRank& rank : ranks) write_file(json, rank, ranks.front());
  json.end_array();
  json.end_object();
  json.end_object();
  return text + "\n";
}

}  // namespace traceloom
