#include "comparison/captures/compared_steps.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace traceloom {
namespace {

// The captures of a side that have a number.
using CountedCaptures = std::vector<const Capture*>;

void add_counted(const std::vector<Capture>& captures, CountedCaptures& counted) {
  for (const Capture& capture : captures)
    if (capture.value_ns) counted.push_back(&capture);
}

// Returns the contents that all captures of a side have in their used steps; none if one has too
// many, or does not say what ran. Raises `most` to the number of contents that a capture has.
std::vector<StepContent> kinds_of_side(const CountedCaptures& side, std::size_t count,
                                       std::size_t& most) {
  std::map<StepContent, std::size_t> captures;
  for (const Capture* const capture : side) {
    const StepContents& contents = capture->contents;
    if (contents.of_step.empty()) return {};
    std::set<std::uint32_t> has;
    for (std::size_t i = 1; i < count; ++i) has.insert(contents.of_step[i]);
    most = std::max(most, has.size());
    if (has.size() > kMostContents) return {};
    for (const std::uint32_t content : has) ++captures[contents.different[content]];
  }
  std::vector<StepContent> kinds;
  for (const auto& [content, number] : captures)
    if (number == side.size()) kinds.push_back(content);
  return kinds;
}

// Returns for each kind of the one side that of the other with which it belongs together: pairs
// with the most in common first. None if a kind has no partner. Both have as many.
std::vector<std::uint32_t> pair_kinds(const std::vector<StepContent>& some,
                                      const std::vector<StepContent>& others) {
  std::vector<std::tuple<double, std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i < some.size(); ++i)
    for (std::uint32_t j = 0; j < others.size(); ++j)
      if (const double common = overlap(some[i], others[j]); common > 0)
        pairs.emplace_back(-common, i, j);
  std::ranges::sort(pairs);
  constexpr std::uint32_t kOpen = ~0U;
  std::vector<std::uint32_t> partners(some.size(), kOpen);
  for (const auto& [less, i, j] : pairs)
    if (partners[i] == kOpen && std::ranges::find(partners, j) == partners.end()) partners[i] = j;
  if (std::ranges::find(partners, kOpen) != partners.end()) return {};
  return partners;
}

}  // namespace

ComparedSteps::ComparedSteps(const std::vector<Capture>& base, const std::vector<Capture>& changed,
                             const std::vector<std::vector<Capture>>& earlier) {
  CountedCaptures some;
  CountedCaptures others;
  for (const std::vector<Capture>& run : earlier) add_counted(run, some);
  add_counted(base, some);
  add_counted(changed, others);
  CountedCaptures all = some;
  all.insert(all.end(), others.begin(), others.end());
  for (const Capture* const capture : all) count = std::min(count, capture->steps_ns.size());
  if (all.empty()) return;
  const std::vector<StepContent> of_base = kinds_of_side(some, count, contents);
  const std::vector<StepContent> of_changed = kinds_of_side(others, count, contents);
  const std::size_t kinds = of_base.size();
  if (kinds < 2 || kinds != of_changed.size() || kinds > kMostStepKinds) return;
  const std::vector<std::uint32_t> partners = pair_kinds(of_changed, of_base);
  if (partners.empty()) return;
  for (std::uint32_t i = 0; i < kinds; ++i) kinds_.emplace(of_base[i], i);
  for (std::uint32_t i = 0; i < kinds; ++i) kinds_.emplace(of_changed[i], partners[i]);
  // What is no kind of either side goes to that of all of them with which it has most in common.
  const std::map<StepContent, std::size_t> known = kinds_;
  std::vector<StepContent> of_both;
  for (const auto& [content, kind] : known) of_both.push_back(content);
  for (const Capture* const capture : all)
    for (const StepContent& one : capture->contents.different)
      kinds_.try_emplace(one, known.at(of_both[nearest_content(one, of_both)]));
  shares.assign(kinds, 0);
  for (const Capture* const capture : all) {
    const std::vector<std::vector<std::int64_t>> by_kind = lengths(*capture);
    for (std::size_t kind = 0; kind < by_kind.size(); ++kind)
      shares[kind] += static_cast<std::int64_t>(by_kind[kind].size());
  }
}

std::vector<std::size_t> ComparedSteps::kinds_of(const Capture& capture) const {
  std::vector<std::size_t> kinds(std::max<std::size_t>(capture.contents.count(), 1));
  if (kinds_.empty()) return kinds;
  for (std::size_t i = 0; i < capture.contents.different.size(); ++i)
    if (const auto known = kinds_.find(capture.contents.different[i]); known != kinds_.end())
      kinds[i] = known->second;
  return kinds;
}

std::vector<std::vector<std::int64_t>> ComparedSteps::lengths(const Capture& capture) const {
  const std::vector<std::size_t> kinds = kinds_of(capture);
  const std::vector<std::uint32_t>& content_of = capture.contents.of_step;
  std::vector<std::vector<std::int64_t>> lengths(shares.size());
  for (std::size_t i = 1; i < std::min(count, capture.steps_ns.size()); ++i)
    lengths[content_of.empty() ? 0 : kinds[content_of[i]]].push_back(capture.steps_ns[i]);
  return lengths;
}

std::vector<WeighedRank> ComparedSteps::rows_of(const Capture& capture, std::int64_t rank) const {
  const std::vector<std::size_t> kinds = kinds_of(capture);
  std::vector<const CaptureRank*> of_kind(shares.size());
  for (const CaptureRank& one :
       std::ranges::equal_range(capture.ranks, rank, {}, &CaptureRank::rank)) {
    if (one.steps == 0 || one.content.has_value() != (shares.size() > 1)) continue;
    const CaptureRank*& most = of_kind[one.content ? kinds[*one.content] : 0];
    if (most == nullptr || one.steps > most->steps) most = &one;
  }
  std::vector<WeighedRank> found;
  std::int64_t all = 0;
  for (std::size_t kind = 0; kind < of_kind.size(); ++kind)
    if (of_kind[kind] != nullptr) {
      all += shares[kind];
      found.push_back({of_kind[kind], shares[kind], 0});
    }
  for (WeighedRank& one : found) one.shares = all;
  return found;
}

std::optional<double> capture_value(const Capture& capture, const ComparedSteps& steps) {
  if (steps.shares.size() == 1 || !capture.value_ns)
    return capture_value(capture.steps_ns, steps.count);
  double sum = 0;
  double of_all = 0;
  const std::vector<std::vector<std::int64_t>> lengths = steps.lengths(capture);
  for (std::size_t kind = 0; kind < lengths.size(); ++kind) {
    if (lengths[kind].empty()) continue;
    const auto share = static_cast<double>(steps.shares[kind]);
    sum += share * middle_mean(lengths[kind]);
    of_all += share;
  }
  return sum > 0 ? std::optional(sum / of_all) : std::nullopt;
}

std::size_t count_slow_steps(const Capture& capture, const ComparedSteps& steps) {
  std::size_t count = 0;
  for (const std::vector<std::int64_t>& of_kind : steps.lengths(capture))
    count += count_slow_steps(of_kind);
  return count;
}

}  // namespace traceloom
