// A merge that becomes an archive: a tar of one trace a rank, with the manifest by which
// Perfetto opens it.
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/options/merge_options.h"
#include "merge/order/merge_output.h"
#include "merge/plan/plan.h"
#include "output/file_sink.h"
#include "output/packed_sink.h"
#include "output/sink.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
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

// RankArchive: writes a tar of one trace a rank, as Perfetto (from version 58 on) opens it.
//
//   RankArchive archive("merged.tar", 1);
//   archive.add("perfetto_manifest.json", manifest);
//   archive.add("rank0.json", [&](MergeOutput& member) { member.write(text); });
//   archive.close();
//
// The traces in it are not gzip, because Perfetto refuses a manifest that says anything about a
// packed file. The archive as a whole is packed if its name says so.

// Behaves as a Sink: without close() nothing is left, and the old output is untouched. Memory is
// small and fixed: a trace waits on disk, next to the output, until its size is known.
class RankArchive {
 public:
  RankArchive(const std::string& path, int level, StdoutUse stdout_use = {});

  void add(std::string_view name, std::string_view text);
  // Adds what `write` writes; it may write blocks if MergeOutput is packed.
  void add(std::string_view name, const std::function<void(MergeOutput&)>& write);
  void complete();
  void close();

 private:
  void copy_blocks(const PackedSink& written);

  std::unique_ptr<Sink> archive_;
  PackedSink* packed_ = nullptr;  // archive_, if that is packed
  std::string path_;
  int level_;
  SpoolFile spool_;
  bool is_complete_ = false;
};

// parts_of(): splits a merge plan into ranks, for outputs that have one trace a rank.
//
//   for (const RankPart& part : parts_of(plan)) {
//     narrow(plan, part);
//     WriteVisitor visitor(plan, output);                     // writes that rank only
//     inputs.scan(part.files, visitor);
//   }
//   widen(plan, origin_ns);

struct RankPart {
  std::int64_t rank = 0;
  std::vector<std::size_t> files;  // files of the plan; a merged file has several ranks
  std::int64_t origin_ns = 0;      // common time of time 0 in its trace
};

// Returns the parts in ascending order of rank. The first one begins at the origin of the plan, and
// each other one at the first event of its files, so that its times are small and no origin lies
// before the plan's. If the plan has a filter, its selection must be known; a rank without events
// left is no part.
std::vector<RankPart> parts_of(const MergePlan& plan);

// Narrows a plan to that part: the origin is the part's, other ranks are left out.
void narrow(MergePlan& plan, const RankPart& part);
// Undoes narrow(); `origin_ns` is the origin that the plan had before.
void widen(MergePlan& plan, std::int64_t origin_ns);

// merge_to_archive(): merge_traces() for MergeFormat::perfetto_tar. It surveys all inputs first and
// then writes one trace a rank.

MergeSummary merge_to_archive(const MergeOptions& options);

}  // namespace traceloom
