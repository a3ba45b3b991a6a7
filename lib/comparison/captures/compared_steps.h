// ComparedSteps: the steps that a comparison uses of each capture, and which of them are of one
// kind.
//
//   const ComparedSteps steps(base, changed);
//   if (const std::optional<double> ns = capture_value(capture, steps)) use(*ns);
//
// Steps in which the same work ran are one kind: an optimizer in every fifth step makes these steps
// longer, and as the longest fifth they would never count. A capture's number is the sum over kinds
// of the kind's share of the used steps of both sides, times the mean of the capture's middle steps
// of that kind. With one kind that is capture_value() of its steps.
//
// The contents that each capture of a side has are kinds of that side, and another content belongs
// to the kind with which it has most in common. So do kinds of both sides belong together, since a
// kernel may have another name in the new version. All steps are one kind where the sides have not
// as many kinds, or more than kMostStepKinds, or two have nothing in common, or where a capture has
// more than kMostContents or does not say what ran. Earlier runs of the base count for its side.
#pragma once

#include "comparison/captures/capture.h"
#include "comparison/judge/judge.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace traceloom {

inline constexpr std::size_t kMostStepKinds = 4;

// The rows of one kind of steps on one rank, and what they count for.
struct WeighedRank {
  const CaptureRank* rank;
  std::int64_t share;   // number of used steps of both sides that are of the kind
  std::int64_t shares;  // of all kinds that the rank has

  // Returns what a sum over the rank's steps gives to a mean step.
  double mean(double sum) const {
    const double of_kind = sum / static_cast<double>(rank->steps);
    if (share == shares) return of_kind;  // exactly
    return of_kind * static_cast<double>(share) / static_cast<double>(shares);
  }
};

class ComparedSteps {
 public:
  // All steps, of one kind.
  ComparedSteps() = default;
  // Of the captures that have a number, each of `count` steps.
  ComparedSteps(const std::vector<Capture>& base, const std::vector<Capture>& changed,
                const std::vector<std::vector<Capture>>& earlier = {});

  std::size_t count = kAllSteps;           // with the first: as many as the shortest capture has
  std::vector<std::int64_t> shares = {1};  // of each kind: the used steps of both sides
  std::size_t contents = 0;                // the most in used steps of a capture

  // Returns the lengths of the capture's used steps, by kind.
  std::vector<std::vector<std::int64_t>> lengths(const Capture& capture) const;
  // Returns what the rank has with steps, of each kind: of several contents that of most steps.
  std::vector<WeighedRank> rows_of(const Capture& capture, std::int64_t rank) const;

 private:
  std::vector<std::size_t> kinds_of(const Capture& capture) const;

  std::map<StepContent, std::size_t> kinds_;  // of all contents, where there are several
};

// Returns nullopt as capture_value() of its steps does.
std::optional<double> capture_value(const Capture& capture, const ComparedSteps& steps);
// Returns the number of used steps that are slow among those of their kind.
std::size_t count_slow_steps(const Capture& capture, const ComparedSteps& steps);

}  // namespace traceloom
