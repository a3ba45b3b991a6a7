// LabelFilter: selects events by name and category, by one rule for all commands.
//
//   LabelFilter filter;
//   filter.names.emplace_back("^aten::");
//   filter.excluded_categories = {"python_function"};
//   filter.accepts("aten::mm", "cpu_op,gpu");   // true
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace traceloom {

// A regular expression in RE2's syntax that is searched for in names. Matching takes time linear in
// the name's length and no deep stack, whatever the expression; back-references and look-ahead are
// therefore refused. Thread-safe.
class NamePattern {
 public:
  // Throws UsageError with the reason: "'gemm(' is not a regular expression: missing ): gemm(".
  explicit NamePattern(const std::string& expression);

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
