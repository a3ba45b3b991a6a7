#include "merge/time_sorter.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <queue>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

// Where nameless files go: where there has to be room anyway.
std::string folder_of(const std::string& output_path) {
  namespace fs = std::filesystem;
  if (output_path == "-" || !is_written_aside(output_path)) return fs::temp_directory_path();
  const fs::path folder = fs::path(output_path).parent_path();
  return folder.empty() ? "." : folder.string();
}

// The events of a block in order: use(event, text).
template <class Use>
void for_each_sorted(const EventBlock& block, const Use& use) {
  std::vector<std::uint32_t> order(block.events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return is_earlier(block.events[a], block.events[b]);
  });
  for (const std::uint32_t i : order) {
    const PlacedEvent& event = block.events[i];
    use(event, std::string_view(block.text).substr(event.begin, event.size));
  }
}

// The events of all runs in order; of equal ones, those of the earlier run first.
template <class Use>
void for_each_merged(std::vector<SortedRun>& runs, const Use& use) {
  const auto is_later = [&](std::size_t a, std::size_t b) {
    if (is_earlier(runs[a].event(), runs[b].event())) return false;
    return is_earlier(runs[b].event(), runs[a].event()) || a > b;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_later)> next(is_later);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].next()) next.push(i);
  while (!next.empty()) {
    const std::size_t run = next.top();
    next.pop();
    use(runs[run].event(), runs[run].text());
    if (runs[run].next()) next.push(run);
  }
}

// Gathers small texts for an output.
class Gatherer {
 public:
  explicit Gatherer(MergeOutput& output) : output_(output) {}
  void operator()(const PlacedEvent&, std::string_view text) {
    text_ += text;
    if (text_.size() >= kWriteBytes) flush();
  }
  void flush() {
    output_.write(text_);
    text_.clear();
  }

 private:
  MergeOutput& output_;
  std::string text_;
};

}  // namespace

TimeSorter::TimeSorter(MergeOutput& output, std::size_t run_bytes)
    : output_(output), folder_(folder_of(output.path())), run_bytes_(run_bytes) {}

void TimeSorter::take(EventBlock& block) {
  gathered_.append(block);
  if (gathered_.text.size() >= run_bytes_) write_run();
}

void TimeSorter::write_run() {
  SortedRun run(folder_);
  for_each_sorted(gathered_,
                  [&](const PlacedEvent& event, std::string_view text) { run.add(event, text); });
  gathered_.clear();
  runs_.push_back(std::move(run));
  if (runs_.size() == kMaxRuns) merge_runs();
}

void TimeSorter::merge_runs() {
  SortedRun merged(folder_);
  for_each_merged(
      runs_, [&](const PlacedEvent& event, std::string_view text) { merged.add(event, text); });
  runs_.clear();
  runs_.push_back(std::move(merged));
}

void TimeSorter::finish() {
  Gatherer gather(output_);
  if (runs_.empty()) {
    for_each_sorted(gathered_, [&](const auto& event, auto text) { gather(event, text); });
  } else {
    write_run();
    for_each_merged(runs_, [&](const auto& event, auto text) { gather(event, text); });
  }
  gather.flush();
}

}  // namespace traceloom
