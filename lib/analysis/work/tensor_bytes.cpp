#include "analysis/work/tensor_bytes.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/json_walk.h"

#include <charconv>
#include <optional>
#include <vector>

namespace traceloom {
namespace {

struct TypeSize {
  std::string_view name;  // name in lower case, without "c10::"
  std::int64_t bytes;
};
constexpr TypeSize kTypeSizes[] = {{"float", 4},
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
                                   {"unsigned long", 8},
                                   // types of HCCL
                                   {"fp16", 2},
                                   {"bfp16", 2},
                                   {"fp32", 4},
                                   {"fp64", 8},
                                   {"int8", 1},
                                   {"uint8", 1},
                                   {"int16", 2},
                                   {"uint16", 2},
                                   {"int32", 4},
                                   {"uint32", 4},
                                   {"int64", 8},
                                   {"uint64", 8}};

// True for a list that json_walk.h can read.
bool is_strict_list(std::string_view text) {
  return is_json_list(text) && is_strict_json(text);
}

std::vector<std::string_view> elements_of(std::string_view list) {
  std::vector<std::string_view> elements;
  for_each_element(list, [&](std::string_view element) { elements.push_back(element); });
  return elements;
}

std::optional<std::int64_t> size_in(std::string_view text) {
  std::int64_t size = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || stop != text.data() + text.size() || size < 0) return std::nullopt;
  return size;
}

// Returns the number of elements of the tensor with that shape, or of the tensors with those
// shapes.
std::optional<std::int64_t> count_elements(std::string_view shape) {
  if (!is_json_list(shape)) return std::nullopt;
  const std::vector<std::string_view> parts = elements_of(shape);
  const bool is_nested = !parts.empty() && is_json_list(parts.front());
  std::int64_t count = is_nested ? 0 : 1;
  for (const std::string_view part : parts) {
    const std::optional<std::int64_t> size = is_nested ? count_elements(part) : size_in(part);
    if (!size) return std::nullopt;
    if (is_nested ? __builtin_add_overflow(count, *size, &count)
                  : __builtin_mul_overflow(count, *size, &count))
      return std::nullopt;
  }
  return count;
}

// Counts the bytes of one argument with that shape and that type, which includes its quotes. An
// argument that is no tensor has 0.
std::optional<std::int64_t> bytes_of(std::string_view shape, std::string_view type) {
  if (!is_json_list(shape)) return std::nullopt;
  if (elements_of(shape).empty()) return 0;
  if (!type.starts_with('"')) return std::nullopt;
  const std::optional<std::int64_t> elements = count_elements(shape);
  const std::int64_t each = type_bytes(type.substr(1, type.size() - 2));
  std::int64_t bytes = 0;
  if (!elements || each == 0 || __builtin_mul_overflow(*elements, each, &bytes))
    return std::nullopt;
  return bytes;
}

}  // namespace

std::int64_t type_bytes(std::string_view dtype) {
  const std::string lower = to_lower(dtype);
  std::string_view name = lower;
  if (name.starts_with("c10::")) name.remove_prefix(5);
  for (const TypeSize& type : kTypeSizes)
    if (type.name == name) return type.bytes;
  return 0;
}

std::int64_t tensor_bytes(std::int64_t elements, std::string_view dtype) {
  std::int64_t bytes = 0;
  if (elements < 0 || __builtin_mul_overflow(elements, type_bytes(dtype), &bytes)) return 0;
  return bytes;
}

std::int64_t tensor_bytes(std::string_view dims, std::string_view types) {
  if (!is_strict_list(dims) || !is_strict_list(types)) return 0;
  const std::vector<std::string_view> shapes = elements_of(dims);
  const std::vector<std::string_view> names = elements_of(types);
  if (shapes.size() != names.size()) return 0;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::optional<std::int64_t> size = bytes_of(shapes[i], names[i]);
    if (!size || __builtin_add_overflow(bytes, *size, &bytes)) return 0;
  }
  return bytes;
}

std::int64_t argument_bytes(std::string_view dims, std::string_view types, std::size_t argument) {
  if (!is_strict_list(dims) || !is_strict_list(types)) return 0;
  const std::vector<std::string_view> shapes = elements_of(dims);
  const std::vector<std::string_view> names = elements_of(types);
  if (shapes.size() != names.size() || argument >= shapes.size()) return 0;
  return bytes_of(shapes[argument], names[argument]).value_or(0);
}

}  // namespace traceloom
