#include "select/label_filter.h"

#include "base/error.h"

#include <algorithm>
#include <re2/re2.h>

namespace traceloom {
namespace {

std::shared_ptr<const RE2> compile(const std::string& expression) {
  auto regex = std::make_shared<const RE2>(expression, RE2::Quiet);
  if (!regex->ok())
    throw UsageError("'" + expression + "' is not a regular expression: " + regex->error());
  return regex;
}

bool is_found(const std::vector<NamePattern>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const NamePattern& pattern) { return pattern.found_in(name); });
}

}  // namespace

NamePattern::NamePattern(const std::string& expression)
    : expression_(expression), regex_(compile(expression)) {}

bool NamePattern::found_in(std::string_view name) const {
  return RE2::PartialMatch({name.data(), name.size()}, *regex_);
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
  return (categories.empty() || has_category(chosen_category(category), categories)) &&
         (names.empty() || is_found(names, name)) && !excludes(name, category);
}

bool LabelFilter::excludes(std::string_view name, std::string_view category) const {
  return (!excluded_categories.empty() &&
          has_category(chosen_category(category), excluded_categories)) ||
         is_found(excluded_names, name);
}

}  // namespace traceloom
