#include "merge/options/merge_options.h"

#include "base/ascii.h"

namespace traceloom {

std::optional<MergeFormat> parse_merge_format(std::string_view name) {
  if (name == "json") return MergeFormat::json;
  if (name == "perfetto-tar") return MergeFormat::perfetto_tar;
  return std::nullopt;
}

MergeFormat format_of_name(std::string_view path) {
  const std::string name = to_lower(path);
  const bool is_tar = name.ends_with(".tar") || name.ends_with(".tar.gz") ||
                      name.ends_with(".tgz") || name.ends_with(".tar.zst");
  return is_tar ? MergeFormat::perfetto_tar : MergeFormat::json;
}

}  // namespace traceloom
