// SpanFilter: which spans a report is about, decided by name and category.
//
//   SpanFilter filter(NamePattern("^aten::"), {"cpu_op"});
//   filter.accepts("aten::mm", "cpu_op,gpu");   // true
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// A regular expression (ECMAScript) that is searched for in names. Matching takes time linear in
// the name's length and no deep stack, whatever the expression; back-references are therefore
// refused.
class NamePattern {
 public:
  // Throws UsageError that says what is wrong: "'gemm(' is not a regular expression: a parenthesis
  // is not closed".
  explicit NamePattern(const std::string& expression);

  bool found_in(std::string_view name) const;

 private:
  std::regex regex_;
};

// Thread-safe once made.
class SpanFilter {
 public:
  SpanFilter() = default;
  // No pattern and no categories accept everything.
  SpanFilter(std::optional<NamePattern> pattern, std::vector<std::string> categories)
      : pattern_(std::move(pattern)), categories_(std::move(categories)) {}

  // `category` is a comma list, as events write it; one element that equals a wanted category is
  // enough.
  bool accepts(std::string_view name, std::string_view category) const;

 private:
  bool accepts_category(std::string_view category) const;

  std::optional<NamePattern> pattern_;
  std::vector<std::string> categories_;
};

}  // namespace traceloom
