#include "trace_merge/added_rows.h"

#include "analysis/replay/what_if.h"
#include "analysis/snapshots/memory_files.h"
#include "base/json_string.h"
#include "base/problems.h"
#include "common/terminal.h"
#include "trace_merge/merge_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

AddedEvent counter(std::int64_t device, std::string_view what, std::int64_t at_ns,
                   std::int64_t bytes) {
  return {at_ns, std::nullopt, fmt::format("GPU {} {}", device, what),
          fmt::format(R"({{"bytes":{}}})", bytes)};
}

}  // namespace

void add_memory(const std::vector<OtherFile>& files, MergeOptions& options) {
  const MemoryFiles found = read_memory_files(files, {options.threads, true, options.filter.ranks});
  for (const std::string& error : found.errors) say(kTool, Tone::warning, "left out: " + error);
  for (const FileCurve& curve : curves_of(found)) {
    if (!curve.device) continue;
    AddedRow row{curve.rank, "", "memory_snapshot", {}, true};
    for (const MemoryPoint& point : curve.points) {
      row.events.push_back(counter(*curve.device, "allocated", point.at_ns, point.allocated));
      row.events.push_back(counter(*curve.device, "reserved", point.at_ns, point.reserved));
    }
    options.added.push_back(std::move(row));
  }
}

void add_critical_path(MergeOptions& options) {
  const Run run = read_run(
      {.inputs = options.inputs, .keep_going = options.keep_going, .threads = options.threads});
  const WhatIf found = find_what_if(run, {.path_only = true});
  if (!found.refusal.empty()) throw UsageError(fmt::format("--critical-path: {}", found.refusal));
  AddedRow row{run.ranks.front().rank, "critical path of all ranks", "critical_path"};
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  for (const PathPiece& piece : found.path) {
    // Clocks of ranks are some us apart; the pieces of a row do not overlap.
    const std::int64_t from_ns = std::max(piece.recorded.from_ns, end_ns);
    if (piece.recorded.to_ns <= from_ns) continue;
    end_ns = piece.recorded.to_ns;
    const std::string_view kind = to_string(piece.what);
    const bool is_work = piece.what == PathClass::compute || piece.what == PathClass::copy;
    const std::int64_t rank = run.ranks[piece.rank].rank;
    row.events.push_back(
        {run.origin_ns + from_ns, end_ns - from_ns,
         fmt::format("rank {}: {}", rank, is_work ? run.labels.name(piece.label) : kind),
         fmt::format(R"({{"rank":{},"class":{}}})", rank, json_string(kind))});
  }
  options.added.push_back(std::move(row));
}

}  // namespace traceloom
