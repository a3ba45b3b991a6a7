#include "analysis/tensor_bytes.h"

#include "base/ascii.h"

#include <charconv>
#include <optional>
#include <vector>

namespace traceloom {
namespace {

struct TypeSize {
  std::string_view name;  // in lower case, without "c10::"
  std::int64_t bytes;
};
constexpr TypeSize kTypes[] = {{"float", 4},
                               {"int", 4},
                               {"double", 8},
                               {"long", 8},
                               {"long int", 8},
                               {"half", 2},
                               {"bfloat16", 2},
                               {"short", 2},
                               {"short int", 2},
                               {"byte", 1},
                               {"char", 1},
                               {"signed char", 1},
                               {"unsigned char", 1},
                               {"bool", 1},
                               {"float8_e4m3fn", 1},
                               {"float8_e5m2", 1},
                               {"float8_e4m3fnuz", 1},
                               {"float8_e5m2fnuz", 1},
                               {"complexfloat", 8},
                               {"complexdouble", 16},
                               {"complex<float>", 8},
                               {"complex<double>", 16},
                               {"unsigned short", 2},
                               {"unsigned int", 4},
                               {"unsigned long", 8}};

using Elements = std::vector<std::string_view>;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Behind the element that `text` begins with: at a comma or a bracket that is not of its own.
// npos when it has no end.
std::size_t end_of_element(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (depth == 0 && (c == ',' || c == ']')) return i;
    if (c == '"') in_string = true;
    if (c == '[') ++depth;
    if (c == ']') --depth;
  }
  return std::string_view::npos;
}

// The elements of a JSON list as they are written; nothing when it is no whole list.
std::optional<Elements> elements_of(std::string_view list) {
  list = trimmed(list);
  if (list.size() < 2 || list.front() != '[') return std::nullopt;
  list = list.substr(1);
  Elements elements;
  if (trimmed(list) == "]") return elements;
  while (true) {
    const std::size_t end = end_of_element(list);
    if (end == std::string_view::npos) return std::nullopt;
    elements.push_back(trimmed(list.substr(0, end)));
    const char stop = list[end];
    list.remove_prefix(end + 1);
    if (stop == ']') break;
  }
  if (!list.empty()) return std::nullopt;
  return elements;
}

std::optional<std::int64_t> size_in(std::string_view text) {
  std::int64_t size = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || stop != text.data() + text.size() || size < 0) return std::nullopt;
  return size;
}

// The elements of the tensors with that shape, or those shapes.
std::optional<std::int64_t> count_elements(const Elements& shape) {
  const bool is_nested = !shape.empty() && shape.front().starts_with('[');
  std::int64_t count = is_nested ? 0 : 1;
  for (const std::string_view part : shape) {
    std::optional<std::int64_t> size;
    if (!is_nested)
      size = size_in(part);
    else if (const std::optional<Elements> inner = elements_of(part))
      size = count_elements(*inner);
    if (!size) return std::nullopt;
    if (is_nested ? __builtin_add_overflow(count, *size, &count)
                  : __builtin_mul_overflow(count, *size, &count))
      return std::nullopt;
  }
  return count;
}

}  // namespace

std::int64_t type_bytes(std::string_view dtype) {
  const std::string lower = to_lower(dtype);
  std::string_view name = lower;
  if (name.starts_with("c10::")) name.remove_prefix(5);
  for (const TypeSize& type : kTypes)
    if (type.name == name) return type.bytes;
  return 0;
}

std::int64_t tensor_bytes(std::int64_t elements, std::string_view dtype) {
  std::int64_t bytes = 0;
  if (elements < 0 || __builtin_mul_overflow(elements, type_bytes(dtype), &bytes)) return 0;
  return bytes;
}

std::int64_t tensor_bytes(std::string_view dims, std::string_view types) {
  const std::optional<Elements> shapes = elements_of(dims);
  const std::optional<Elements> names = elements_of(types);
  if (!shapes || !names || shapes->size() != names->size()) return 0;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < shapes->size(); ++i) {
    const std::optional<Elements> shape = elements_of((*shapes)[i]);
    if (!shape) return 0;
    if (shape->empty()) continue;
    std::string_view type = (*names)[i];
    if (type.size() < 2 || type.front() != '"' || type.back() != '"') return 0;
    type = type.substr(1, type.size() - 2);
    const std::optional<std::int64_t> elements = count_elements(*shape);
    if (!elements || type_bytes(type) == 0) return 0;
    std::int64_t size = 0;
    if (__builtin_mul_overflow(*elements, type_bytes(type), &size) ||
        __builtin_add_overflow(bytes, size, &bytes))
      return 0;
  }
  return bytes;
}

}  // namespace traceloom
