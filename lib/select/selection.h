// The part of a run that is wanted: ranks, times, steps, and the names and categories of events.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}  // namespace re2

namespace traceloom {

// NumberRange: a range of ranks or of steps.
//
//   std::vector<NumberRange> ranks = parse_number_ranges("0,4-7").value();
//   is_in(ranks, 5);   // true

// Both ends belong to the range.
struct NumberRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

bool is_in(const std::vector<NumberRange>& ranges, std::int64_t number);

// Parses "0,4-7" into ranges; nullopt if the text is no list of numbers >= 0. A range may end
// before it begins: the caller can report that.
std::optional<std::vector<NumberRange>> parse_number_ranges(std::string_view text);

// Parses a whole number >= 0; nullopt for any other text.
std::optional<std::int64_t> parse_number(std::string_view text);

// A half-open window of time.
struct TimeWindow {
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();

  bool contains(std::int64_t start_ns) const { return start_ns >= from_ns && start_ns < to_ns; }
};

// TimeSelection: a piece of a run, on the clock that all ranks share.
//
//   TimeSelection selection = TimeSelection::parse("1.5s:2s").value();

// The window [from_ns, to_ns) in nanoseconds after the earliest event of all files on the common
// clock, floored to a microsecond; that is time 0 of their merge. E events do not count as the
// earliest: an E that comes first has lost its B, and a merge drops it.
struct TimeSelection {
  std::optional<std::int64_t> from_ns;  // absent: from the beginning
  std::optional<std::int64_t> to_ns;    // absent: to the end

  // Parses "1.5s:2s", ":500ms" or "1.5s:"; nullopt if the text is none of these or ends before it
  // begins.
  static std::optional<TimeSelection> parse(std::string_view text);

  TimeWindow window() const {
    const TimeWindow all;
    return {from_ns.value_or(all.from_ns), to_ns.value_or(all.to_ns)};
  }
};

// StepSelection: some of the training steps of a run, and the times they take on a rank.
//
//   StepSelection selection = StepSelection::parse("3:5").value();      // steps 3, 4 and 5
//   std::vector<TimeWindow> windows = selection.windows_of(starts);

// The start of a step on a rank.
struct StepStart {
  std::int64_t begin_ns = 0;
  std::int64_t number = 0;
};

// Both ends belong to the selection.
struct StepSelection {
  std::optional<std::int64_t> first;  // absent: from the beginning, including the time before the
                                      // first step
  std::optional<std::int64_t> last;   // absent: to the end

  // Parses "3:5", ":5", "3:" or "3" (that step only); nullopt if the text is none of these or ends
  // before it begins.
  static std::optional<StepSelection> parse(std::string_view text);

  bool contains(std::int64_t number) const {
    return (!first || number >= *first) && (!last || number <= *last);
  }
  // Returns the times of the selected steps. `starts` holds all steps of one rank in any order. A
  // step lasts until the next one begins, the last one to the end. The windows ascend and are not
  // adjacent.
  std::vector<TimeWindow> windows_of(std::vector<StepStart> starts) const;
};

// A regular expression in RE2's syntax that is searched for in names. Matching takes time linear in
// the name's length and no deep stack, whatever the expression; back-references and look-ahead are
// therefore refused. Thread-safe.
class NamePattern {
 public:
  // Throws UsageError with the reason: "'gemm(' is not a regular expression: missing ): gemm(".
  explicit NamePattern(const std::string& expression);
  // Finds that name alone.
  static NamePattern exactly(std::string_view name);

  bool found_in(std::string_view name) const;
  const std::string& expression() const { return expression_; }

 private:
  std::string expression_;
  std::shared_ptr<const re2::RE2> regex_;  // copies share it
};

// The name of an event without one, and the category of an event without any.
inline constexpr std::string_view kNoName = "(none)";

// Returns the category by which an event is selected: a comma list, kNoName for "".
inline std::string_view chosen_category(std::string_view list) {
  return list.empty() ? kNoName : list;
}

// True if one element of a comma list, as events write their category, equals a wanted one.
bool has_category(std::string_view list, const std::vector<std::string>& wanted);

// LabelFilter: selects events by name and category, by one rule for all commands.
//
//   LabelFilter filter;
//   filter.names.emplace_back("^aten::");
//   filter.excluded_categories = {"python_function"};
//   filter.accepts("aten::mm", "cpu_op,gpu");   // true

// Threads may share it once it is complete.
struct LabelFilter {
  std::vector<NamePattern> names;  // at least one has to be found; empty: all names are wanted
  std::vector<NamePattern> excluded_names;
  // The event must have one of these, kNoName standing for no category. Empty: all are wanted.
  std::vector<std::string> categories;
  std::vector<std::string> excluded_categories;

  bool empty() const {
    return names.empty() && excluded_names.empty() && categories.empty() &&
           excluded_categories.empty();
  }
  // `name` is kNoName for an event without one; `category` is a comma list, "" for none.
  bool accepts(std::string_view name, std::string_view category) const;
  // True if the name or category is one of the excluded ones, whatever else is wanted.
  bool excludes(std::string_view name, std::string_view category) const;
};

}  // namespace traceloom
