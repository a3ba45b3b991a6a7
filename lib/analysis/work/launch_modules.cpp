#include "analysis/work/launch_modules.h"

#include "base/ascii.h"
#include "run/span_stack.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace traceloom {

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
  std::stable_sort(spans.begin(), spans.end(), [](const HostSpan& a, const HostSpan& b) {
    return std::tuple(a.track, a.start_ns, b.end_ns) < std::tuple(b.track, b.start_ns, a.end_ns);
  });
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
  const auto after =
      std::upper_bound(calls_.begin(), calls_.end(), std::pair(track, at_ns),
                       [](const auto& wanted, const Call& call) {
                         return wanted < std::pair(call.span.track, call.span.start_ns);
                       });
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

}  // namespace traceloom
