#include "merge/options/merge_options.h"

#include "base/ascii.h"
#include "output/json_writer.h"

namespace traceloom {

MergeFormat format_of_name(std::string_view path) {
  const std::string name = to_lower(path);
  const bool is_tar = name.ends_with(".tar") || name.ends_with(".tar.gz") ||
                      name.ends_with(".tgz") || name.ends_with(".tar.zst");
  return is_tar ? MergeFormat::perfetto_tar : MergeFormat::json;
}

void write_estimate(JsonWriter& json, const ClockSummary& clock) {
  if (!clock.collectives) return;
  json.begin_object("collectives");
  json.member("shift_ns", clock.collectives->shift_ns);
  json.member("residual_p50_ns", clock.collectives->residual_p50_ns);
  json.member("residual_p95_ns", clock.collectives->residual_p95_ns);
  json.member("bound_ns", clock.collectives->bound_ns);
  json.end_object();
}

void write_left_out(JsonWriter& json, const std::vector<LeftOut>& left_out) {
  write_objects(json, left_out, [&](const LeftOut& file) {
    json.member("path", file.path);
    json.member("error", file.error);
  });
}

}  // namespace traceloom
