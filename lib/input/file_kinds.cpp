#include "input/file_kinds.h"

#include "base/ascii.h"
#include "input/byte_source.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace traceloom {
namespace {

constexpr std::string_view kMemory = "trace-stats memory reads";

// In the order of the enum.
constexpr std::array kWords{
    FileKindWords{"a file", "files", "nothing reads"},
    FileKindWords{"a pickle (allocator snapshot or memory stats)",
                  "pickles (allocator snapshots, memory stats)", kMemory},
    FileKindWords{"a report of a memory tracker", "reports of memory trackers", kMemory},
    FileKindWords{"a file of memory stats", "files of memory stats", kMemory},
    FileKindWords{"a memory timeline", "memory timelines", kMemory},
    FileKindWords{"a picture of a memory timeline", "pictures of memory timelines",
                  "nothing can read: export the timeline as .raw.json.gz or .json"},
    FileKindWords{"a heap profile", "heap profiles", "pprof reads"},
};

// The name in small letters, without the ending of its packing.
std::string plain_name(std::string_view path) {
  std::string name = to_lower(path.substr(path.rfind('/') + 1));
  for (const std::string_view packing : {".gz", ".zst"})
    if (name.ends_with(packing)) name.resize(name.size() - packing.size());
  return name;
}

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](std::string_view end) { return name.ends_with(end); });
}

bool is_stats_name(std::string_view name) {
  return name.starts_with("rank_") &&
         ends_with_any(name, {"_memory_stats.yaml", "_memory_stats.yml", "_memory_stats.json"});
}

FileKind kind_by_bytes(std::string_view head) {
  if (head.starts_with("\x80") && head.size() > 1 && head[1] >= 2 && head[1] <= 5)
    return FileKind::pickle;
  head.remove_prefix(std::min(head.find_first_not_of(" \n\r\t"), head.size()));
  if (head.starts_with("Iteration ") && has_text(head, "memory stats:"))
    return FileKind::tracker_report;
  if (has_rows(head)) return FileKind::memory_timeline;
  if (!head.starts_with('<')) return FileKind::unknown;
  if (has_text(head, "\"base64\"")) return FileKind::pickle;
  return has_text(head, "Memory Timeline") ? FileKind::memory_picture : FileKind::unknown;
}

}  // namespace

const FileKindWords& describe(FileKind kind) {
  return kWords[static_cast<std::size_t>(kind)];
}

bool is_memory_kind(FileKind kind) {
  return describe(kind).what_to_do == kMemory;
}

bool may_have_kind(std::string_view name) {
  const std::string plain = plain_name(name);
  return is_stats_name(plain) ||
         (!plain.starts_with("node_trace.") &&
          ends_with_any(plain, {".pickle", ".pkl", ".log", ".txt", ".html", ".prof"}));
}

FileKind kind_of_file(const std::string& path) {
  const std::string name = plain_name(path);
  if (is_stats_name(name)) return FileKind::memory_stats;
  if (ends_with_any(name, {".pickle", ".pkl"})) return FileKind::pickle;
  if (name.ends_with(".prof")) return FileKind::heap_profile;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return FileKind::unknown;
  return kind_by_bytes(first_bytes(path));
}

}  // namespace traceloom
