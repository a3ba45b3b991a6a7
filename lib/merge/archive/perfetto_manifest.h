// The manifest of an archive of traces: which machine each is of, and what its clock differs by.
//
//   perfetto_manifest({{0, "rank0.json", 0}, {1, "rank1.json", 2'676'000}}, origin_ns)
//
// The format (version 1, Perfetto's docs/reference/perfetto-manifest.md): each file is the trace of
// a machine of its own, so that pids, tids and ids of two ranks never meet; a JSON trace has a
// clock of its own, and is placed by what it differs from that of another file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

struct ArchivedRank {
  std::int64_t rank = 0;
  std::string path;            // in the archive
  std::int64_t offset_ns = 0;  // time 0 of its trace, on the clock of the first one's
};

// JSON text. Perfetto drops what lies before time 0 of the file that is first by name: that should
// be the first one here, and no offset negative. `origin_ns`, the Unix time of its time 0, is kept
// as an attribute.
std::string perfetto_manifest(const std::vector<ArchivedRank>& ranks, std::int64_t origin_ns);

}  // namespace traceloom
