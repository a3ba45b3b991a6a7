#include "comparison/canonical_name.h"

#include "analysis/work/kernel_name.h"
#include "base/ascii.h"

#include <algorithm>
#include <cstddef>

namespace traceloom {
namespace {

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string without_template_arguments(std::string_view name) {
  std::string kept;
  std::size_t depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) kept += c;
    if (c == '>' && depth > 0) --depth;
  }
  // Brackets that do not close are no template arguments: "operator<".
  return depth == 0 ? kept : std::string(name);
}

// torch names a wait "enumerate(DataLoader)#CLASS.__next__", and the class says how many workers
// there are.
std::string without_loader_class(std::string_view name) {
  constexpr std::string_view kLoader = "enumerate(DataLoader)#";
  const std::size_t method = name.find('.');
  if (!name.starts_with(kLoader) || method == std::string_view::npos) return std::string(name);
  return std::string(kLoader).append(name.substr(method));
}

}  // namespace

std::string canonical_name(std::string_view name) {
  if (std::string plain = without_loader_class(name); plain != name) return plain;
  const std::string plain = without_template_arguments(kernel_name(name));
  std::string canonical;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain.compare(i, 2, "0x") == 0 && i + 2 < plain.size() && is_hex(plain[i + 2])) {
      i += 2;
      while (i + 1 < plain.size() && is_hex(plain[i + 1])) ++i;
    } else if (!is_digit(plain[i])) {
      canonical += plain[i];
    }
  }
  return canonical;
}

}  // namespace traceloom
