// A merge that becomes an archive: a tar of one trace a rank, with the manifest by which
// Perfetto opens it.
#pragma once

#include "merge/options/merge_options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace traceloom {

// perfetto_manifest(): the manifest of an archive of traces, which says what machine each trace
// comes from, and by how much its clock differs.
//
//   perfetto_manifest({{0, "rank0.json", 0}, {1, "rank1.json", 2'676'000}}, origin_ns)
//
// The format is version 1 of Perfetto's docs/reference/perfetto-manifest.md. Each file is the trace
// of a machine of its own, so that pids, tids and ids of two ranks never meet. A JSON trace has a
// clock of its own, and is placed by its difference from the clock of another file.

struct ArchivedRank {
  std::int64_t rank = 0;
  std::string path;            // in the archive
  std::int64_t offset_ns = 0;  // time 0 of its trace on the clock of the first trace
};

// Returns JSON text. Perfetto drops what lies before time 0 of the file that is first by name, so
// the first rank here should be that file, and no offset may be negative. `origin_ns`, the Unix
// time of its time 0, becomes an attribute.
std::string perfetto_manifest(const std::vector<ArchivedRank>& ranks, std::int64_t origin_ns);

// merge_to_archive(): merge_traces() for MergeFormat::perfetto_tar. It surveys all inputs first and
// then writes one trace a rank.

MergeSummary merge_to_archive(const MergeOptions& options);

}  // namespace traceloom
