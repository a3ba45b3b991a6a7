#include "select/step_marks.h"

#include "base/arithmetic.h"
#include "base/ascii.h"
#include "base/json_walk.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace traceloom {
namespace {

std::optional<std::int64_t> torch_step(const Event& event) {
  constexpr std::string_view kName = "\"ProfilerStep#";
  const std::string_view name = event.text(Key::name);
  if (!name.starts_with(kName) || event.text(Key::cat) == "\"gpu_user_annotation\"")
    return std::nullopt;
  return whole_number<std::int64_t>(name.substr(kName.size(), name.size() - 1 - kName.size()));
}

std::optional<std::int64_t> composer_batch(const Event& event) {
  const std::string_view args = event.text(Key::args);
  if (args.find("\"batch\"") == std::string_view::npos ||
      args.find("\"epoch\"") == std::string_view::npos || !json_integer(find_member(args, "epoch")))
    return std::nullopt;
  return json_integer(find_member(args, "batch"));
}

// True for spans inside which another batch may begin.
bool may_be_long(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames{
      "event/batch", "event/dataloader", "event/epoch", "event/fit", "event/iteration"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         name.starts_with("dataloader/");
}

template <typename Map>
void keep_least(Map& map, const typename Map::key_type& key, std::int64_t value) {
  const auto [found, is_new] = map.try_emplace(key, value);
  if (!is_new) found->second = std::min(found->second, value);
}

// Returns the batch of the first training span in that time.
std::optional<std::int64_t> first_batch(const std::map<std::int64_t, std::int64_t>& trains,
                                        std::int64_t from_ns, std::int64_t to_ns) {
  const auto first = trains.lower_bound(from_ns);
  return first == trains.end() || first->first >= to_ns ? std::nullopt
                                                        : std::optional(first->second);
}

}  // namespace

StepMarks::Thread StepMarks::thread_of(const Event& event) {
  return {canonical_id(event.text(Key::pid)), canonical_id(event.text(Key::tid))};
}

void StepMarks::add(const Event& event, std::int64_t start_ns, std::int64_t duration_ns) {
  if (event.phase != 'X' && event.phase != 'B' && event.phase != 'i') return;
  if (const std::optional<std::int64_t> step = torch_step(event))
    keep_least(begins_, {StepSource::torch, thread_of(event), *step}, start_ns);
  else if (const std::optional<std::int64_t> batch = composer_batch(event))
    add_batch(event, *batch, start_ns, duration_ns);
}

void StepMarks::add_batch(const Event& event, std::int64_t batch, std::int64_t start_ns,
                          std::int64_t duration_ns) {
  const Thread thread = thread_of(event);
  const std::string_view name = unquoted(event.text(Key::name));
  // An end that a merge made up has no args.
  const bool has_args_of_end = event.phase == 'X' && !event.has(Key::unclosed);
  if (has_args_of_end && may_be_long(name))
    return long_spans_.push_back({thread, batch, start_ns, saturating_add(start_ns, duration_ns)});
  if (name == "event/train_batch") trains_[thread][start_ns] = batch;
  keep_least(begins_, {StepSource::composer, thread, batch}, start_ns);
}

void StepMarks::append(const StepMarks& later) {
  for (const auto& [step, begin_ns] : later.begins_) keep_least(begins_, step, begin_ns);
  for (const auto& [thread, trains] : later.trains_)
    trains_[thread].insert(trains.begin(), trains.end());
  long_spans_.insert(long_spans_.end(), later.long_spans_.begin(), later.long_spans_.end());
}

std::vector<StepMark> StepMarks::list(const FileRank& file) const {
  const auto rank_of = [&](const Thread& thread) { return file.rank_of(thread.pid, thread.tid); };
  std::map<std::int64_t, Trains> trains;  // keyed by rank
  for (const auto& [thread, of_thread] : trains_)
    trains[rank_of(thread)].insert(of_thread.begin(), of_thread.end());
  std::map<std::tuple<StepSource, std::int64_t, std::int64_t>, std::int64_t> begins;
  for (const auto& [step, begin_ns] : begins_)
    keep_least(begins, {std::get<0>(step), rank_of(std::get<1>(step)), std::get<2>(step)},
               begin_ns);
  for (const LongSpan& span : long_spans_) {
    const std::int64_t rank = rank_of(span.thread);
    const std::optional<std::int64_t> batch = first_batch(trains[rank], span.start_ns, span.end_ns);
    keep_least(begins, {StepSource::composer, rank, batch.value_or(span.number)}, span.start_ns);
  }
  std::vector<StepMark> marks;
  marks.reserve(begins.size());
  for (const auto& [step, begin_ns] : begins)
    marks.push_back({std::get<0>(step), std::get<2>(step), std::get<1>(step), begin_ns});
  return marks;
}

}  // namespace traceloom
