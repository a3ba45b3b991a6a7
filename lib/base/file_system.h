// Questions to the file system: the end of a chain of links, a file without a name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace traceloom {

// end_of_links: the path at the end of a chain of symbolic links.
//
//   if (const auto end = end_of_links("latest.json")) write_to(*end);   // "run7/merged.json"

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

// A file without a name, for bytes that do not fit into memory or have to be read again.
//
//   const int descriptor = open_unnamed_file(temporary_folder());

// Returns $TMPDIR, or /tmp if that is not set.
std::string temporary_folder();

// Opens a file that only this user can read and write. The file disappears with the process,
// however the process ends. Returns -1 and sets errno if the file cannot be created.
int open_unnamed_file(const std::string& folder);

}  // namespace traceloom
