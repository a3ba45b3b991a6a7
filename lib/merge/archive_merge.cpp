#include "merge/archive_merge.h"

#include "identity/clocks/clock_plan.h"
#include "merge/frame/frame.h"
#include "merge/order/merge_output.h"
#include "merge/passes/merge_inputs.h"
#include "merge/write/write_visitor.h"
#include "output/file_sink.h"
#include "output/json_writer.h"
#include "output/sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

constexpr int kIndent = 2;

void write_file(JsonWriter& json, const ArchivedRank& rank, const ArchivedRank& first) {
  json.member("path", rank.path);
  json.begin_object("machine");
  json.member("name", fmt::format("rank {}", rank.rank));
  json.end_object();
  if (&rank != &first) {
    json.begin_object("clocks");
    json.begin_object("sync_to");
    json.member("file", first.path);
    json.end_object();
    json.member("offset_ns", rank.offset_ns);
    json.end_object();
  }
}

}  // namespace

std::string perfetto_manifest(const std::vector<ArchivedRank>& ranks, std::int64_t origin_ns) {
  std::string text;
  JsonWriter json(text, kIndent);
  json.begin_object();
  // Perfetto recognizes a manifest by this key at its very beginning.
  json.begin_object("perfetto_manifest");
  json.member("version", 1);
  json.begin_object("attributes");
  json.member("traceloom.version", TRACELOOM_VERSION);
  json.member("traceloom.origin_unix_ns", origin_ns);
  json.end_object();
  write_objects(json, "files", ranks,
                [&](const ArchivedRank& rank) { write_file(json, rank, ranks.front()); });
  json.end_object();
  json.end_object();
  return text + "\n";
}

namespace {

// Writes a tar of one trace a rank, as Perfetto (from version 58 on) opens it. The traces in it are
// not gzip, because Perfetto refuses a manifest that says anything about a packed file. The archive
// as a whole is packed if its name says so.
//
// Behaves as a Sink: without close() nothing is left, and the old output is untouched. Memory is
// small and fixed: a trace waits on disk, next to the output, until its size is known.
class RankArchive {
 public:
  RankArchive(const std::string& path, int level, StdoutUse stdout_use)
      : path_(path),
        level_(level),
        archive_(pack_by_name(open_file_sink(path, stdout_use), path, level)) {}

  void add(std::string_view name, std::string_view text) {
    archive_->write(tar_header(name, text.size()));
    archive_->write(text);
    archive_->write(tar_padding(text.size()));
  }

  // Adds what `write` writes; it may write blocks if the sink packs. Blocks are compressed
  // already when they are copied; the checksum and size of their text follow once, after them.
  void add(std::string_view name, const std::function<void(Sink&)>& write) {
    PartOutput part(path_, level_);
    write(part.output());
    const PartSize size = part.complete();
    archive_->write(tar_header(name, size.text_size));
    PackedSink* const packed = archive_->packed();
    part.for_each_piece([&](std::string_view piece) {
      if (packed != nullptr)
        packed->write_block({std::string(piece), 0, 0});
      else
        archive_->write(piece);
    });
    if (packed != nullptr) packed->count_elsewhere({{}, size.crc32, size.text_size});
    archive_->write(tar_padding(size.text_size));
  }

  void complete() {
    archive_->write(tar_end());
    archive_->complete();
  }
  void close() { archive_->close(); }

 private:
  std::string path_;
  int level_;
  std::unique_ptr<Sink> archive_;
};

// The part of a merge that is the trace of one rank.
struct RankPart {
  std::int64_t rank = 0;
  std::vector<std::size_t> files;  // files of the plan; a merged file has several ranks
  std::int64_t origin_ns = 0;      // common time of time 0 in its trace
};

// Returns the ranks to write: with a filter, only those with events left.
std::set<std::int64_t> written_ranks(const MergePlan& plan) {
  std::set<std::int64_t> ranks;
  for (const OutputProcess& process : plan.filter ? plan.filter->rows() : plan.tracks.processes())
    ranks.insert(process.rank);
  return ranks;
}

// Returns the time of the first event, floored to a whole microsecond.
std::int64_t first_event_of(const MergePlan& plan, const std::vector<std::size_t>& files) {
  std::vector<StartTimes> starts;
  std::vector<FileClock> clocks;
  for (const std::size_t file : files) {
    if (plan.surveys[file].starts.empty()) continue;
    starts.push_back(plan.surveys[file].starts);
    clocks.push_back(plan.files[file].clock);
  }
  return starts.empty() ? plan.origin_ns : common_origin_ns(starts, clocks);
}

// Narrows a plan to the trace of one rank, or widens it to all of them again (nullopt).
void narrow(MergePlan& plan, std::optional<std::int64_t> rank, std::int64_t origin_ns) {
  for (FilePlan& file : plan.files) file.times = file.clock.times.since(origin_ns);
  if (plan.filter) plan.filter->move_origin(plan.origin_ns - origin_ns);
  plan.origin_ns = origin_ns;
  plan.only_rank = rank;
}

// Returns the parts in ascending order of rank. The first one begins at the origin of the plan, and
// each other one at the first event of its files, so that its times are small and no origin lies
// before the plan's. If the plan has a filter, its selection must be known; a rank without events
// left is no part.
std::vector<RankPart> parts_of(const MergePlan& plan) {
  std::map<std::int64_t, RankPart> parts;
  for (const std::int64_t rank : written_ranks(plan)) parts[rank].rank = rank;
  for (const std::size_t file : plan.order) {
    if (plan.filter && !plan.filter->reads(file)) continue;
    for (const std::int64_t rank : plan.tracks.ranks_of(file))
      if (parts.contains(rank)) parts[rank].files.push_back(file);
  }
  std::vector<RankPart> result;
  for (auto& [rank, part] : parts) {
    part.origin_ns = result.empty() ? plan.origin_ns
                                    : std::max(plan.origin_ns, first_event_of(plan, part.files));
    result.push_back(std::move(part));
  }
  return result;
}

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

// Writes the trace of the rank that the plan has been narrowed to.
void write_part(MergeInputs& inputs, const RankPart& part, std::uint64_t later_bytes, Sink& member,
                WrittenFiles& written) {
  WriteVisitor visitor(inputs.plan(), member, inputs.memory());
  visitor.write_head();
  inputs.scan(part.files, visitor, later_bytes);
  visitor.finish();
  inputs.check_unchanged(visitor, part.files);
  std::vector<ProblemCounts> problems(inputs.size());
  for (const std::size_t file : part.files) {
    problems[file] = inputs.problems_of(file, visitor.written()[file].problems);
    written[file].add(visitor.written()[file]);
  }
  const FilterPlan* const filter = inputs.plan().filter ? &*inputs.plan().filter : nullptr;
  const bool selects = filter != nullptr && filter->needs_selection();
  const auto events_of = [&](std::size_t file, std::int64_t rank) {
    return MergedRankEvents{inputs.plan().surveys[file].events, visitor.written()[file].events,
                            selects ? filter->counts_of(file, rank).filtered : 0};
  };
  write_tail(inputs.plan(), events_of, problems, inputs.left_out(),
             [&](std::string_view text) { member.write(text); });
}

}  // namespace

MergeSummary merge_to_archive(const MergeOptions& options) {
  RankArchive archive(options.output, options.level, {.outlives_reader = options.outlives_reader});
  MergeInputs inputs(options);
  inputs.survey();
  if (!inputs.select()) return inputs.nothing_left();
  MergePlan& plan = inputs.plan();
  const std::int64_t origin_ns = plan.origin_ns;
  const std::vector<RankPart> parts = parts_of(plan);
  const std::vector<ArchivedRank> ranks = archived_ranks(parts, origin_ns);
  archive.add("perfetto_manifest.json", perfetto_manifest(ranks, origin_ns));
  WrittenFiles written(inputs.size());
  std::uint64_t later_bytes = 0;
  for (const RankPart& part : parts) later_bytes += inputs.stored_bytes_of(part.files);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    later_bytes -= inputs.stored_bytes_of(parts[i].files);
    narrow(plan, parts[i].rank, parts[i].origin_ns);
    archive.add(ranks[i].path,
                [&](Sink& member) { write_part(inputs, parts[i], later_bytes, member, written); });
  }
  narrow(plan, std::nullopt, origin_ns);
  MergeSummary summary = inputs.summarize(written);
  archive.complete();
  if (options.before_replacing) options.before_replacing(summary);
  archive.close();
  return summary;
}

}  // namespace traceloom
