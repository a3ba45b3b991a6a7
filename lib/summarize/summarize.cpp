#include "summarize/summarize.h"

#include "identity/capture/capture.h"
#include "summarize/span_collector.h"
#include "summarize/summary_rows.h"
#include "team/team.h"
#include "team/wire.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

bool needs_ranks(const SummaryRequest& request) {
  return request.by.rank || !request.ranks.empty();
}

// Up to this number of files, each file has its own groups, so that no file has to be read again if
// some turn out to be left out. For 2,000 files of 200 names that would take four times the time.
constexpr std::size_t kFewFiles = 64;

bool can_reread_all(const SummaryRequest& request) {
  return std::ranges::all_of(request.inputs, can_be_reread, &Input::path);
}

SpanPlaces places_for(const SummaryRequest& request) {
  const bool can_reread = can_reread_all(request);
  if (!can_reread && request.by.name) return SpanPlaces::files_and_threads;
  if (needs_ranks(request))
    return can_reread ? SpanPlaces::files_and_pids : SpanPlaces::files_and_threads;
  // The spans that a file gave before it failed must be separable.
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

  // Returns the callback for the next scan_files().
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

// Process 0 finds this in the readings of all files, and all processes use it.
struct Findings {
  std::vector<char> is_repeat;  // one a file
  std::vector<FileRank> ranks;  // one a file; those of files that do not count have no meaning
  bool has_repeats = false;
  bool has_outliers = false;
  bool has_device_rows = false;

  auto wired() { return std::tie(is_repeat, ranks, has_repeats, has_outliers, has_device_rows); }
};

bool any_repeats(const std::vector<FileReading>& files) {
  return std::ranges::any_of(files, [](const FileReading& file) { return file.is_repeat; });
}

bool any_outliers(const std::vector<FileReading>& files) {
  return std::ranges::any_of(
      files, [](const FileReading& file) { return file.counts() && file.starts.has_outliers(); });
}

bool share_pids(const std::vector<FileRank>& ranks) {
  return std::ranges::any_of(ranks,
                             [](const FileRank& file) { return !file.rank_of_thread.empty(); });
}

// Reads the spans of one summary, with the other processes of its team.
class Summarizer {
 public:
  Summarizer(const SummaryRequest& request, Team& team)
      : request_(request), team_(team), progress_(request.progress) {
    own_ = share_out(team, paths_of(request.inputs));
  }

  // Reads the files, again with finer groups where the first reading shows that they are needed.
  void read() {
    if (request_.time)
      windows_ = find_windows(request_.inputs, *request_.time, request_.keep_going,
                              {.threads = request_.threads,
                               .watch = &watch_,
                               .progress = progress_.next_reading(),
                               .files = own_},
                              team_);
    SpanPlaces places = places_for(request_);
    // The collector tells stretches of time apart at once if it cannot read them again.
    parts_stretches_ = !can_reread_all(request_);
    collect(places, progress_.next_reading());
    // Spans that do not count may share groups with spans that do.
    const bool mixes_files = found_.has_repeats && places == SpanPlaces::none;
    const bool mixes_times = found_.has_outliers && !parts_stretches_;
    parts_stretches_ |= mixes_times;
    if (mixes_files) places = SpanPlaces::files;
    if (mixes_files || mixes_times) collect(places, {});
    // Spans of producers that give no categories are of a device by their threads.
    if (request_.by.name && places != SpanPlaces::files_and_threads && found_.has_device_rows)
      collect(places = SpanPlaces::files_and_threads, {});
    // Few files need groups a thread. For all files they would cost much: 2,000 threads of 200
    // names take 62 MB instead of 11, and four times the time.
    if (places == SpanPlaces::files_and_pids && share_pids(found_.ranks))
      collect(SpanPlaces::files_and_threads, {});
  }

  std::vector<FileFacts> files() const {
    std::vector<FileFacts> files;
    for (std::size_t i = 0; i < request_.inputs.size(); ++i) {
      const FileReading& file = collector_->files()[i];
      files.push_back(describe_file(request_.inputs[i].path, file, found_.ranks[i]));
      if (file.counts()) count_outliers(file.starts, TimeMap(), files.back().problems);
    }
    std::stable_sort(files.begin(), files.end(), is_reported_before);
    return files;
  }

  std::uint64_t async_spans() const {
    std::uint64_t spans = 0;
    for (const FileReading& file : collector_->files())
      if (file.counts()) spans += file.async_spans;
    return spans;
  }

  // Returns the rows, on process 0.
  std::vector<SummaryRow> rows() const {
    RowCollector rows(request_.by, request_.max_rows);
    team_.agree([&] { add_groups(rows); });
    return exchange_rows(team_, request_.by, rows, request_.max_rows,
                         thread_count(request_.threads));
  }

 private:
  void collect(SpanPlaces places, ReadingProgress::Callback progress) {
    collector_ = std::make_unique<SpanCollector>(request_.inputs.size(), places, parts_stretches_,
                                                 request_.filter, windows_, request_.keep_going);
    // With these options there are at least as many rows as names.
    if (request_.by.name && request_.ranks.empty()) collector_->limit_names(request_.max_rows);
    team_.agree([&] {
      scan_inputs(request_.inputs, *collector_,
                  {.threads = request_.threads,
                   .watch = &watch_,
                   .progress = std::move(progress),
                   .files = own_});
      collector_->finish();
    });
    find();
  }

  // Sets found_ on all processes, and which of their files are repeats.
  void find() {
    bool has_device_rows = false;
    team_.gather(
        to_wire(collector_->has_device_rows()),
        [&](std::size_t, const std::string& bytes) { has_device_rows |= from_wire<bool>(bytes); });
    std::vector<FileReading>& files = collector_->files();
    gather_readings(team_, own_, files);
    Findings found;
    if (team_.is_first()) {
      found.ranks = settle(request_.inputs, readings_of(files)).ranks;
      for (const FileReading& file : files) found.is_repeat.push_back(file.is_repeat ? 1 : 0);
      found.has_repeats = any_repeats(files);
      found.has_outliers = any_outliers(files);
      found.has_device_rows = has_device_rows;
    }
    found_ = broadcast(team_, std::move(found));
    for (std::size_t i = 0; i < files.size(); ++i) files[i].is_repeat = found_.is_repeat[i] != 0;
  }

  void add_groups(RowCollector& rows) const {
    collector_->for_each_table([&](const SpanTable& table) {
      table.for_each_group([&](const SpanGroup& group) {
        if (!collector_->counts(group)) return;
        const std::int64_t rank =
            needs_ranks(request_)
                ? found_.ranks[collector_->file_of(group)].rank_of(group.pid, group.tid)
                : 0;
        if (is_wanted(request_, rank)) rows.add(group, rank, collector_->side_of(group));
      });
    });
  }

  const SummaryRequest& request_;
  Team& team_;
  ReadingProgress progress_;
  FileWatch watch_;  // all readings are of the same bytes
  FileBlock own_;
  std::vector<FileWindow> windows_;
  std::unique_ptr<SpanCollector> collector_;
  bool parts_stretches_ = false;
  Findings found_;
};

}  // namespace

Summary summarize(const SummaryRequest& request) {
  Team& team = team_or_alone(request.team);
  Summarizer summarizer(request, team);
  summarizer.read();
  Summary summary;
  summary.by = request.by;
  summary.order = request.order;
  summary.rows = summarizer.rows();
  if (!team.is_first()) return summary;
  summary.files = summarizer.files();
  summary.async_spans = summarizer.async_spans();
  set_shares(summary.rows);
  sort_rows(summary.rows, request.order);
  if (request.top > 0 && summary.rows.size() > request.top) summary.rows.resize(request.top);
  return summary;
}

}  // namespace traceloom
