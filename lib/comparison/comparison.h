// compare: whether a changed version is slower than its base, by more than noise, and where the
// time went.
//
//   const Comparison found = compare({base, changed}, {});   // captures of both sides
//   if (found.kind == Answer::regression) for (const RowDelta& row : found.rows) use(row.delta_ns);
//
// The answer is that of judge() (comparison/judge/judge.h) on the numbers of the captures, unless
// the sides are not comparable or a gate on another metric is worse (judge_sides.h). Where the time
// went is told of one rank, the one whose own work changed most in the direction of the step: a
// rank that waits for others in collectives shows their change as communication. Its rows, its
// roles and its step are means over the same steps, so their deltas add up exactly.
#pragma once

#include "analysis/report.h"
#include "analysis/waits/step_roles.h"
#include "comparison/judge_sides.h"
#include "comparison/sides.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace traceloom {

struct CompareOptions {
  JudgeOptions judge = {};
  std::vector<MetricGate> gates = {};
  std::set<std::string> allowed = {};  // keys of Difference that do not forbid
};

// All times count ns a step; a delta is the changed side's time less that of the base.
struct RankDelta {
  std::int64_t rank = 0;
  std::int64_t base_ns = 0;
  std::int64_t changed_ns = 0;
  RoleTimes base_roles = {};  // they add up to base_ns
  RoleTimes changed_roles = {};

  std::int64_t delta_ns() const { return changed_ns - base_ns; }
  std::int64_t role_delta_ns(Role role) const { return changed_roles[role] - base_roles[role]; }
  std::int64_t communication_ns() const { return role_delta_ns(Role::communication); }
  std::int64_t own_ns() const { return delta_ns() - communication_ns(); }
};

// Returns "old -> new"; the one text if both are equal or one is empty.
std::string both_texts(const std::string& before, const std::string& after);

struct RowSums {
  std::string op;  // of several rows, the operators, names and modules joined by " + "
  std::string name;
  std::string module;
  std::int64_t step_ns = 0;   // time of the step that belongs to it alone
  std::int64_t total_ns = 0;  // its time with what other work hides
  double calls = 0;
};

struct RowDelta {
  std::string what;  // "new", "gone", "fused", "renamed, slower calls"; "" for no change
  MatchLevel level = MatchLevel::none;
  Role role = Role::other;
  RowSums base;
  RowSums changed;

  std::int64_t delta_ns() const { return changed.step_ns - base.step_ns; }
  std::int64_t total_delta_ns() const { return changed.total_ns - base.total_ns; }
  // Returns "MLP -> FusedMLP", with "-" for a side that was launched in no module; the one name if
  // both sides have it or the row has one side only, and "" without any.
  std::string modules() const;
};

// The shares of the device time of each side whose rows were matched at each level.
struct MatchedShares {
  std::array<double, kMatchLevels> base{};
  std::array<double, kMatchLevels> changed{};
};

struct Comparison : JudgedSides {
  ChangeKind kind = ChangeKind::inconclusive;
  // The reason why it is inconclusive or incomparable, or which gate decides it, else "".
  std::string why = {};
  std::size_t base_captures = 0;  // number of captures that count
  std::size_t changed_captures = 0;
  std::vector<Difference> differences = {};
  std::vector<RankDelta> ranks = {};      // those that both sides have, ascending
  std::optional<std::size_t> shown = {};  // index in `ranks` of the rank that is told of

  // The rank that is told of, or nullptr if no rank has steps on both sides.
  const RankDelta* shown_rank() const { return shown ? &ranks[*shown] : nullptr; }

  // Some captures name the modules of that rank and others do not, so that no row has one.
  bool leaves_out_modules = false;
  std::vector<std::int64_t> moved = {};  // ranks that changed at least half as much as that one
  bool moved_together = false;           // they are compared by their steps, not by their own work
  std::vector<RowDelta> rows = {};       // of that rank, largest deltas first
  MatchedShares matched = {};
};

// True for work on a device: kernels, copies and communication.
bool is_device_role(Role role);

Comparison compare(const ComparedSides& all, const CompareOptions& options);

// compare_report: shows a comparison to people and programs, with its gates and its slow steps.
//
//   const Report report = compare_report(sides, options, compare(sides, options));
//   fmt::print("{}", render_report(report, TableFormat::text, {}));

// The caller fills in Report::files.
Report compare_report(const ComparedSides& sides, const CompareOptions& options,
                      const Comparison& found);

// Keeps so many ranks in the table of all ranks, those that changed most.
void keep_changed_ranks(Report& report, std::size_t count);

// The most columns that tables take in a log. Texts are cut in their middle to reach it.
inline constexpr int kLogWidth = 160;

// The same in the forms that CI services show. Texts come from traces, so all of them are escaped.
//
//   fmt::print("{}", github_annotations(options, found, report));
//   fmt::print("{}", pull_request_comment(report));

inline constexpr std::size_t kCommentLines = 60;

// Returns Markdown of at most kCommentLines lines: the tables get as many rows as there is room
// for, and a note says so.
std::string pull_request_comment(const Report& report);

// Returns workflow commands of GitHub Actions, one a line: the verdict, and each gate that is not
// OK. A regression and incomparable sides are errors, an inconclusive comparison is a warning.
std::string github_annotations(const CompareOptions& options, const Comparison& found,
                               const Report& report);

// Where and when a comparison ran.
struct JUnitOrigin {
  std::string host;         // "": not known
  std::time_t seconds = 0;  // since 1970 in UTC
};

// Returns a JUnit XML document, as the schema of Apache Ant asks for, with a test case for the step
// and one for each gate. A regression is a failure, incomparable sides are an error. INCONCLUSIVE
// is a failure, too, or a skipped case if it passes.
std::string junit_report(const CompareOptions& options, const Comparison& found,
                         const Report& report, bool passes_inconclusive, const JUnitOrigin& origin);

}  // namespace traceloom
