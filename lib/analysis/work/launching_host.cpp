#include "analysis/work/launching_host.h"

#include "base/ascii.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

std::pair<std::uint32_t, std::int64_t> begin_of(const HostSpan& span) {
  return {span.track, span.start_ns};
}

// Outer spans come first.
auto place_of(const HostSpan& span) {
  return std::tuple(begin_of(span), ~span.end_ns);
}

}  // namespace

std::string_view module_class(std::string_view label) {
  if (label.starts_with(kModulePrefix)) label.remove_prefix(kModulePrefix.size());
  const std::size_t bar = label.rfind('_');
  if (bar == std::string_view::npos || bar == 0 || bar + 1 == label.size()) return label;
  const std::string_view number = label.substr(bar + 1);
  return std::all_of(number.begin(), number.end(), is_digit) ? label.substr(0, bar) : label;
}

LaunchModules::LaunchModules(const Run& run, const RankEvents& rank, const Operators& operators)
    : run_(run), operators_(operators) {
  std::vector<HostSpan> spans;
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (span.mark == SpanMark::module) spans.push_back(span);
  });
  if (spans.empty()) return;
  nest(std::move(spans));
  launches_.emplace(rank.own_parts());
}

void LaunchModules::nest(std::vector<HostSpan> spans) {
  std::ranges::stable_sort(spans, {}, place_of);
  SpanStack open;
  std::string name;
  for (const HostSpan& span : spans) {
    if (!calls_.empty() && calls_.back().span.track != span.track) open.clear();
    const SpanStack::Place place = open.find(span.start_ns, span.end_ns);
    const auto class_of = [this](const HostSpan& call) {
      return module_class(run_.labels.name(call.label));
    };
    name.clear();
    if (place.around != SpanStack::kNone)
      name.append(class_of(calls_[place.around].span)).append(".");
    name.append(class_of(span));
    open.push(static_cast<std::uint32_t>(calls_.size()), span.end_ns, place);
    calls_.push_back({span, place.around, names_.intern(name)});
  }
}

std::uint32_t LaunchModules::find(std::uint32_t track, std::int64_t at_ns) const {
  const auto after = std::ranges::upper_bound(calls_, std::pair(track, at_ns), {},
                                              [](const Call& call) { return begin_of(call.span); });
  if (after == calls_.begin() || (after - 1)->span.track != track) return kNoModule;
  for (auto call = static_cast<std::uint32_t>(after - calls_.begin() - 1); call != SpanStack::kNone;
       call = calls_[call].around)
    if (at_ns < calls_[call].span.end_ns) return calls_[call].module;
  return kNoModule;
}

std::uint32_t LaunchModules::of_launch(const DeviceSpan& work) const {
  if (empty()) return kNoModule;
  const CallSpan* const call = launches_->find(run_.tracks.file(work.track), work);
  if (call != nullptr)
    if (const std::uint32_t module = around(*call); module != kNoModule) return module;
  const std::uint32_t launcher = operators_.launcher_of(work);
  if (launcher == kNoOperator) return kNoModule;
  const OperatorNode& node = operators_.nodes()[launcher];
  return find(node.track, node.start_ns);
}

LaunchingRanges::LaunchingRanges(const Run& run, const RankEvents& rank)
    : launches_(rank.own_parts()) {
  rank.for_each_mark([&](const MarkedSpan& span) {
    if (is_of_collective(span.mark)) ranges_.push_back({span, 0, span.end_ns});
  });
  std::ranges::stable_sort(ranges_, {}, [](const auto& one) { return place_of(one.span); });
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const MarkedSpan& span = ranges_[i].span;
    if (i > 0 && ranges_[i - 1].span.track == span.track)
      ranges_[i].latest_end_ns = std::max(span.end_ns, ranges_[i - 1].latest_end_ns);
    if (span.number > 0) externals_.add(run.tracks.file(span.track), span.number, span.start_ns, i);
  }
  externals_.sort();
  for (const EventColumns& part : rank.own_parts())
    for (const DeviceSpan& piece : part.devices) {
      if (run.labels.kind(piece.label).role != Role::communication) continue;
      const LaunchedBy by = find(part, piece);
      for (const LaunchingRange* const one : {by.range, by.op})
        if (one != nullptr) ++ranges_[static_cast<std::size_t>(one - ranges_.data())].pieces;
    }
}

LaunchedBy LaunchingRanges::find(const EventColumns& part, const DeviceSpan& piece) const {
  LaunchedBy found;
  const CallSpan* const call = launches_.find(part, piece);
  if (call != nullptr) add_around(*call, found);
  if (found.range != nullptr) return found;
  const std::size_t* const named =
      externals_.find(part.file, call == nullptr ? piece.external : call->external, piece.start_ns);
  if (named != nullptr) add_around(ranges_[*named].span, found);
  return found;
}

// Notes the innermost ranges around the span; the span itself may be one.
void LaunchingRanges::add_around(const HostSpan& span, LaunchedBy& found) const {
  const auto behind = std::ranges::upper_bound(ranges_, begin_of(span), {},
                                               [](const auto& one) { return begin_of(one.span); });
  for (auto range = behind; range != ranges_.begin();) {
    --range;
    if (range->span.track != span.track || range->latest_end_ns < span.end_ns) return;
    if (range->span.end_ns < span.end_ns) continue;
    const LaunchingRange*& place =
        range->span.mark == SpanMark::collective ? found.range : found.op;
    if (place == nullptr) place = &*range;
    if (found.range != nullptr && found.op != nullptr) return;
  }
}

}  // namespace traceloom
