// MergeFormat: what kind of file a merge writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace traceloom {

enum class MergeFormat : std::uint8_t {
  json,          // one Chrome JSON trace
  perfetto_tar,  // a trace a rank and a manifest, for Perfetto; see rank_archive.h
};
// Knows "json" and "perfetto-tar"; returns nullopt for other names.
std::optional<MergeFormat> parse_merge_format(std::string_view name);
// Returns perfetto_tar for names that end in .tar, .tar.gz or .tgz, in any case of letters.
MergeFormat format_of_name(std::string_view path);

}  // namespace traceloom
