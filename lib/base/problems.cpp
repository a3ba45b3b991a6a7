#include "base/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace traceloom {

Error::Error(const std::string& path, const std::string& problem)
    : std::runtime_error(fmt::format("{}: {}", path, problem)), path_(path), problem_(problem) {}

Error::Error(const std::string& path, std::uint64_t offset_bytes, const std::string& problem)
    : std::runtime_error(fmt::format("{}: byte {}: {}", path, offset_bytes, problem)),
      path_(path),
      offset_bytes_(offset_bytes),
      problem_(problem) {}

Error with_advice(const Error& error, const std::string& advice) {
  const std::string problem = error.problem() + "; " + advice;
  return error.offset_bytes() ? Error(error.path(), *error.offset_bytes(), problem)
                              : Error(error.path(), problem);
}

Error system_error(const std::string& path, int error_number) {
  return {path, std::generic_category().message(error_number)};
}

namespace {

using enum Severity;

constexpr ProblemKind kProblemKinds[] = {
#define PROBLEM(name, severity, sentence) {#name, severity, sentence},
#include "base/problem_kinds.h"
};

}  // namespace

const ProblemKind& describe(Problem problem) {
  return kProblemKinds[static_cast<std::size_t>(problem)];
}

const ProblemCounts::Met* ProblemCounts::find(Problem problem) const {
  const auto at = std::ranges::lower_bound(met_, problem, {}, &Met::problem);
  return at != met_.end() && at->problem == problem ? &*at : nullptr;
}

void ProblemCounts::add(Problem problem, std::uint64_t offset_bytes, std::uint64_t count) {
  if (count == 0) return;
  auto met = std::ranges::lower_bound(met_, problem, {}, &Met::problem);
  if (met == met_.end() || met->problem != problem)
    met = met_.insert(met, {problem, 0, offset_bytes, {}});
  met->first_offset = std::min(met->first_offset, offset_bytes);
  met->count += count;
}

void ProblemCounts::add(const ProblemCounts& other) {
  for (const Met& met : other.met_) {
    add(met.problem, met.first_offset, met.count);
    explain(met.problem, met.words);
  }
}

void ProblemCounts::explain(Problem problem, std::string words) {
  const auto met = std::ranges::find(met_, problem, &Met::problem);
  if (met != met_.end() && met->words.empty()) met->words = std::move(words);
}

void ProblemCounts::forget(Problem problem) {
  std::erase_if(met_, [problem](const Met& met) { return met.problem == problem; });
}

std::uint64_t ProblemCounts::count(Problem problem) const {
  const Met* const met = find(problem);
  return met == nullptr ? 0 : met->count;
}

std::uint64_t ProblemCounts::first_offset(Problem problem) const {
  const Met* const met = find(problem);
  return met == nullptr ? 0 : met->first_offset;
}

std::string_view ProblemCounts::explanation(Problem problem) const {
  const Met* const met = find(problem);
  return met == nullptr ? std::string_view() : std::string_view(met->words);
}

std::vector<Problem> ProblemCounts::kinds() const {
  std::vector<Problem> kinds;
  for (const Met& met : met_) kinds.push_back(met.problem);
  return kinds;
}

bool ProblemCounts::has_loss() const {
  return std::ranges::any_of(met_,
                             [](const Met& met) { return describe(met.problem).severity == loss; });
}

}  // namespace traceloom
