#include "select/label_filter.h"

#include "base/error.h"

#include <algorithm>

namespace traceloom {
namespace {

// libstdc++'s usual matcher recurses once a character (a name of 100 kB overflows the stack: such
// names exist) and takes exponential time on (a+)+$; the other one that it has does neither.
#ifdef __GLIBCXX__
constexpr std::regex::flag_type kFlags =
    std::regex::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr std::regex::flag_type kFlags = std::regex::ECMAScript;
#endif

std::string_view explain(std::regex_constants::error_type code) {
  namespace error = std::regex_constants;
  if (code == error::error_collate) return "unknown collating element";
  if (code == error::error_ctype) return "unknown character class";
  if (code == error::error_escape) return "invalid escape";
  if (code == error::error_backref) return "back-reference to a group that is not there";
  if (code == error::error_brack) return "a bracket [ is not closed";
  if (code == error::error_paren)  // libstdc++ says so for "*x", too
    return "a parenthesis does not match, or nothing stands before * + or ?";
  if (code == error::error_brace) return "a brace { is not closed";
  if (code == error::error_badbrace) return "invalid range in braces";
  if (code == error::error_range) return "invalid range of characters";
  if (code == error::error_badrepeat) return "nothing stands before * + ? or {";
  if (code == error::error_complexity) return "too complex (back-references are not supported)";
  return "not understood";
}

std::regex compile(const std::string& expression) {
  try {
    return std::regex(expression, kFlags);
  } catch (const std::regex_error& error) {
    throw UsageError("'" + expression +
                     "' is not a regular expression: " + std::string(explain(error.code())));
  }
}

bool is_found(const std::vector<NamePattern>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const NamePattern& pattern) { return pattern.found_in(name); });
}

}  // namespace

NamePattern::NamePattern(const std::string& expression)
    : expression_(expression), regex_(compile(expression)) {}

bool NamePattern::found_in(std::string_view name) const {
  return std::regex_search(name.begin(), name.end(), regex_);
}

bool has_category(std::string_view list, const std::vector<std::string>& wanted) {
  while (true) {
    const std::size_t comma = list.find(',');
    if (std::find(wanted.begin(), wanted.end(), list.substr(0, comma)) != wanted.end()) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

bool LabelFilter::accepts(std::string_view name, std::string_view category) const {
  return (categories.empty() || has_category(category, categories)) &&
         (names.empty() || is_found(names, name)) && !excludes(name, category);
}

bool LabelFilter::excludes(std::string_view name, std::string_view category) const {
  return (!excluded_categories.empty() && has_category(category, excluded_categories)) ||
         is_found(excluded_names, name);
}

}  // namespace traceloom
