#include "survey/step_marks.h"

#include "survey/json_member.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace traceloom {
namespace {

std::optional<std::int64_t> torch_step(const Event& event) {
  constexpr std::string_view kName = "\"ProfilerStep#";
  const std::string_view name = event.text(Key::name);
  if (!name.starts_with(kName) || event.text(Key::cat) == "\"gpu_user_annotation\"")
    return std::nullopt;
  std::int64_t number = 0;
  const char* const end = name.data() + name.size() - 1;
  const auto [stop, error] = std::from_chars(name.data() + kName.size(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// Composer itself writes B and E. Of an X that a merge made of them the args are those of its end,
// where the count may have gone up: surely so for event/batch, perhaps for spans of many batches.
bool may_last_longer_than_a_batch(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kNames{"event/fit", "event/epoch",
                                                          "event/iteration"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         name.starts_with("dataloader/");
}

std::optional<std::int64_t> composer_step(const Event& event) {
  const std::string_view args = event.text(Key::args);
  if (args.find("\"batch\"") == std::string_view::npos ||
      args.find("\"epoch\"") == std::string_view::npos || !json_integer(json_member(args, "epoch")))
    return std::nullopt;
  const std::optional<std::int64_t> batch = json_integer(json_member(args, "batch"));
  if (!batch || event.phase != 'X') return batch;
  const std::string_view name = unquoted(event.text(Key::name));
  if (name == "event/batch") return *batch - 1;
  return may_last_longer_than_a_batch(name) ? std::nullopt : batch;
}

}  // namespace

void StepMarks::add(const Event& event, std::int64_t start_ns) {
  if (event.phase != 'X' && event.phase != 'B' && event.phase != 'i') return;
  if (const std::optional<std::int64_t> step = torch_step(event))
    add({StepSource::torch, canonical_id(event.text(Key::pid)), *step}, start_ns);
  else if (const std::optional<std::int64_t> batch = composer_step(event))
    add({StepSource::composer, canonical_id(event.text(Key::pid)), *batch}, start_ns);
}

void StepMarks::append(const StepMarks& later) {
  for (const auto& [step, begin_ns] : later.begins_) add(step, begin_ns);
}

void StepMarks::add(const Step& step, std::int64_t start_ns) {
  const auto [found, is_new] = begins_.try_emplace(step, start_ns);
  if (!is_new) found->second = std::min(found->second, start_ns);
}

std::vector<StepMark> StepMarks::list() const {
  std::vector<StepMark> marks;
  for (const auto& [step, begin_ns] : begins_)
    marks.push_back({std::get<0>(step), std::get<2>(step), std::get<1>(step), begin_ns});
  return marks;
}

}  // namespace traceloom
