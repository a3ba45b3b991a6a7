// end_of_links: the path at the end of a chain of symbolic links.
//
//   if (const auto end = end_of_links("latest.json")) write_to(*end);   // "run7/merged.json"
#pragma once

#include <filesystem>
#include <optional>
#include <system_error>

namespace traceloom {

// Returns the path itself if it is no link; the file need not exist. Returns nullopt for more links
// than Linux follows.
inline std::optional<std::filesystem::path> end_of_links(std::filesystem::path target) {
  constexpr int kMostLinks = 40;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code not_a_link;
    const std::filesystem::path next = std::filesystem::read_symlink(target, not_a_link);
    if (not_a_link) return target;
    target = target.parent_path() / next;
  }
  return std::nullopt;
}

}  // namespace traceloom
