#include "stats/summarize.h"

#include "stats/span_collector.h"
#include "stats/summary_rows.h"
#include "stats/time_windows.h"
#include "survey/ranks.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace traceloom {
namespace {

bool needs_ranks(const SummaryRequest& request) {
  return request.by.rank || !request.ranks.empty();
}

// Of so many files the spans are told apart, so that none has to be read again where some turn out
// to be left out. Of 2,000 files of 200 names that would take four times the time.
constexpr std::size_t kFewFiles = 64;

SpanPlaces places_for(const SummaryRequest& request) {
  const bool can_reread = std::ranges::all_of(request.inputs, can_be_reread, &Input::path);
  if (!can_reread && request.by.name) return SpanPlaces::files_and_threads;
  if (needs_ranks(request))
    return can_reread ? SpanPlaces::files_and_pids : SpanPlaces::files_and_threads;
  // What a file gave before it turned out to be none has to be told apart.
  const bool is_cheap = request.inputs.size() <= kFewFiles;
  return request.keep_going || is_cheap || !can_reread ? SpanPlaces::files : SpanPlaces::none;
}

bool is_wanted(const SummaryRequest& request, std::int64_t rank) {
  return request.ranks.empty() || is_in(request.ranks, rank);
}

// Adds up the progress of several readings of the same files.
class ReadingProgress {
 public:
  using Callback = std::function<void(std::uint64_t)>;

  explicit ReadingProgress(Callback callback) : callback_(std::move(callback)) {}

  // For the next scan_files().
  Callback next_reading() {
    if (!callback_) return {};
    before_ = last_;
    return [this](std::uint64_t bytes) {
      last_ = before_ + bytes;
      callback_(last_);
    };
  }

 private:
  Callback callback_;
  std::uint64_t before_ = 0;
  std::uint64_t last_ = 0;
};

// The ranks of the files that count; the others get none.
std::vector<FileRank> find_ranks(const SummaryRequest& request,
                                 const std::vector<FileReading>& files) {
  std::vector<Input> inputs;
  std::vector<FileEvidence> evidence;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i].counts()) continue;
    inputs.push_back(request.inputs[i]);
    evidence.push_back(files[i].evidence);
  }
  const std::vector<FileRank> assigned = assign_ranks(inputs, evidence);
  std::vector<FileRank> ranks(files.size());
  for (std::size_t i = 0, next = 0; i < files.size(); ++i)
    if (files[i].counts()) ranks[i] = assigned[next++];
  return ranks;
}

std::vector<SummaryRow> make_rows(const SummaryRequest& request, const SpanCollector& collector,
                                  const std::vector<FileRank>& ranks) {
  RowCollector rows(request.by, request.max_rows);
  collector.for_each_table([&](const SpanTable& table) {
    table.for_each_group([&](const SpanGroup& group) {
      if (!collector.counts(group)) return;
      const std::int64_t rank =
          needs_ranks(request) ? ranks[collector.file_of(group)].rank_of(group.pid, group.tid) : 0;
      if (is_wanted(request, rank)) rows.add(group, rank, collector.side_of(group));
    });
  });
  return rows.compute(thread_count(request.threads));
}

std::unique_ptr<SpanCollector> collect(const SummaryRequest& request, SpanPlaces places,
                                       const std::vector<FileWindow>& windows,
                                       ReadingProgress::Callback progress) {
  auto collector = std::make_unique<SpanCollector>(request.inputs.size(), places, request.filter,
                                                   windows, request.keep_going);
  // With these there are at least as many rows as names.
  if (request.by.name && request.ranks.empty()) collector->limit_names(request.max_rows);
  std::vector<std::string> paths;
  for (const Input& input : request.inputs) paths.push_back(input.path);
  scan_files(paths, *collector, {.threads = request.threads, .progress = std::move(progress)});
  collector->finish();
  std::vector<FileReading*> readings;
  for (FileReading& file : collector->files()) readings.push_back(&file);
  mark_repeats(request.inputs, readings);
  return collector;
}

// Whether spans that do not count were told apart from nothing.
bool mixes_files(SpanPlaces places, const std::vector<FileReading>& files) {
  return places == SpanPlaces::none && std::ranges::any_of(files, [](const FileReading& file) {
           return file.is_repeat || !file.starts.fit_near();
         });
}

bool share_pids(const std::vector<FileRank>& ranks) {
  return std::ranges::any_of(ranks,
                             [](const FileRank& file) { return !file.rank_of_thread.empty(); });
}

}  // namespace

Summary summarize(const SummaryRequest& request) {
  ReadingProgress progress(request.progress);
  std::vector<FileWindow> windows;
  if (request.time)
    windows = find_windows(request.inputs, *request.time, request.keep_going,
                           {.threads = request.threads, .progress = progress.next_reading()});
  SpanPlaces places = places_for(request);
  auto collector = collect(request, places, windows, progress.next_reading());
  if (mixes_files(places, collector->files()))
    collector = collect(request, places = SpanPlaces::files, windows, {});
  // Spans of producers that give no categories are of a device by their threads.
  if (request.by.name && places != SpanPlaces::files_and_threads && collector->has_device_rows())
    collector = collect(request, places = SpanPlaces::files_and_threads, windows, {});
  std::vector<FileRank> ranks = find_ranks(request, collector->files());
  // Few files need their threads. All others' would cost much: 2,000 threads of 200 names 62 MB in
  // place of 11, and four times the time.
  if (places == SpanPlaces::files_and_pids && share_pids(ranks)) {
    collector = collect(request, SpanPlaces::files_and_threads, windows, {});
    ranks = find_ranks(request, collector->files());
  }
  Summary summary;
  summary.by = request.by;
  summary.order = request.order;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const FileReading& file = collector->files()[i];
    summary.files.push_back(describe_file(request.inputs[i].path, file, ranks[i]));
    if (file.counts()) count_outliers(file.starts, TimeMap(), summary.files.back().problems);
  }
  std::stable_sort(summary.files.begin(), summary.files.end(), is_told_before);
  summary.rows = make_rows(request, *collector, ranks);
  sort_rows(summary.rows, request.order);
  if (request.top > 0 && summary.rows.size() > request.top) summary.rows.resize(request.top);
  return summary;
}

}  // namespace traceloom
