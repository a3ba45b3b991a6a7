#include "merge/archive/archive_merge.h"

#include "merge/archive/perfetto_manifest.h"
#include "merge/archive/rank_archive.h"
#include "merge/archive/rank_parts.h"
#include "merge/frame/frame.h"
#include "merge/passes/merge_inputs.h"
#include "merge/write/write_visitor.h"

#include <fmt/format.h>

namespace traceloom {
namespace {

// Pads the rank in each name with zeros, so that the names sort in the order of the ranks.
std::vector<ArchivedRank> archived_ranks(const std::vector<RankPart>& parts,
                                         std::int64_t origin_ns) {
  const std::size_t digits = std::to_string(parts.back().rank).size();
  std::vector<ArchivedRank> ranks;
  ranks.reserve(parts.size());
  for (const RankPart& part : parts)
    ranks.push_back(
        {part.rank, fmt::format("rank{:0{}}.json", part.rank, digits), part.origin_ns - origin_ns});
  return ranks;
}

// The results of writing the parts; both vectors have one entry a file.
struct Written {
  std::vector<ProblemCounts> problems;
  std::vector<std::uint64_t> events;
};

// Writes the trace of the rank that the plan has been narrowed to.
void write_part(MergeInputs& inputs, const RankPart& part, std::uint64_t later_bytes,
                MergeOutput& member, Written& written) {
  WriteVisitor visitor(inputs.plan(), member, inputs.memory());
  visitor.write_head(inputs.surveys());
  inputs.scan(part.files, visitor, later_bytes);
  visitor.finish();
  inputs.check_unchanged(visitor, part.files);
  std::vector<ProblemCounts> problems(inputs.size());
  for (const std::size_t file : part.files) {
    problems[file] = inputs.problems_of(file, visitor.problems()[file]);
    written.problems[file].add(visitor.problems()[file]);
    written.events[file] += visitor.events()[file];
  }
  const FilterPlan* const filter = inputs.plan().filter ? &*inputs.plan().filter : nullptr;
  const bool selects = filter != nullptr && filter->needs_selection();
  const auto events_of = [&](std::size_t file, std::int64_t rank) {
    return MergedRankEvents{inputs.surveys()[file].events, visitor.events()[file],
                            selects ? filter->counts_of(file, rank).filtered : 0};
  };
  write_tail(inputs.plan(), inputs.surveys(), events_of, problems, inputs.left_out(),
             [&](std::string_view text) { member.write(text); });
}

}  // namespace

MergeSummary merge_to_archive(const MergeOptions& options) {
  RankArchive archive(options.output, options.gzip_level,
                      {.outlives_reader = options.outlives_reader});
  MergeInputs inputs(options);
  inputs.survey();
  if (!inputs.select()) return inputs.nothing_left();
  MergePlan& plan = inputs.plan();
  const std::int64_t origin_ns = plan.origin_ns;
  const std::vector<RankPart> parts = parts_of(plan, inputs.surveys());
  const std::vector<ArchivedRank> ranks = archived_ranks(parts, origin_ns);
  archive.add("perfetto_manifest.json", perfetto_manifest(ranks, origin_ns));
  Written written{std::vector<ProblemCounts>(inputs.size()),
                  std::vector<std::uint64_t>(inputs.size())};
  std::uint64_t later_bytes = 0;
  for (const RankPart& part : parts) later_bytes += inputs.stored_bytes_of(part.files);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    later_bytes -= inputs.stored_bytes_of(parts[i].files);
    narrow(plan, parts[i]);
    archive.add(ranks[i].path, [&](MergeOutput& member) {
      write_part(inputs, parts[i], later_bytes, member, written);
    });
  }
  widen(plan, origin_ns);
  MergeSummary summary = inputs.summarize(written.problems, written.events);
  archive.complete();
  if (options.before_replacing) options.before_replacing(summary);
  archive.close();
  return summary;
}

}  // namespace traceloom
