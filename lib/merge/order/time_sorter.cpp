#include "merge/order/time_sorter.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <string_view>
#include <utility>

namespace traceloom {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

// Calls use(event, text) for the events of a block in order.
template <class Use>
void for_each_sorted(const EventBlock& block, const Use& use) {
  std::vector<std::uint32_t> order(block.events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return is_earlier(block.events[a], block.events[b]);
  });
  for (const std::uint32_t i : order) {
    const PlacedEvent& event = block.events[i];
    use(event, block.text.view().substr(event.begin, event.size));
  }
}

// Calls use(event, text) for the events of all runs in order. Among equal events, those of the
// earlier run come first.
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
    : output_(output), run_bytes_(run_bytes) {}

void TimeSorter::take(EventBlock& block) {
  gathered_.append(block);
  if (gathered_.text.size() >= run_bytes_) write_run();
}

void TimeSorter::write_run() {
  SortedRun run(output_.path());
  for_each_sorted(gathered_,
                  [&](const PlacedEvent& event, std::string_view text) { run.add(event, text); });
  gathered_.clear();
  runs_.push_back(std::move(run));
  if (runs_.size() == kMaxRuns) merge_runs();
}

void TimeSorter::merge_runs() {
  SortedRun merged(output_.path());
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
