#include "analysis/work/kernel_name.h"

#include <cstddef>

namespace traceloom {
namespace {

// An outermost group, from '(' to ')'.
struct Group {
  std::size_t from = std::string_view::npos;
  std::size_t to = std::string_view::npos;  // npos if the name ends before
};

Group last_group(std::string_view name) {
  Group last;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '(' && depth++ == 0) last = {i, std::string_view::npos};
    if (name[i] == ')' && depth > 0 && --depth == 0) last.to = i;
  }
  return last;
}

// True for "operator()", which is a name itself; nvcc writes it with a space.
bool is_call_operator(std::string_view before, std::string_view arguments) {
  while (before.ends_with(' ')) before.remove_suffix(1);
  return arguments == "()" && before.ends_with("operator");
}

// After the arguments of a function comes nothing, "const", or an addition of a compiler: "[clone
// .kd]". Any other text means that the group is inside a scope or template arguments.
bool are_arguments(std::string_view before, std::string_view group, std::string_view behind) {
  if (before.empty() || group.starts_with("(anonymous")) return false;
  if (is_call_operator(before, group)) return false;
  return behind.empty() || behind.starts_with(" const") || behind.starts_with(" [");
}

}  // namespace

std::string_view kernel_name(std::string_view name) {
  const Group group = last_group(name);
  if (group.from == std::string_view::npos) return name;
  const std::size_t end = group.to == std::string_view::npos ? name.size() : group.to + 1;
  std::string_view before = name.substr(0, group.from);
  if (!are_arguments(before, name.substr(group.from, end - group.from), name.substr(end)))
    return name;
  while (before.ends_with(' ')) before.remove_suffix(1);
  return before;
}

}  // namespace traceloom
