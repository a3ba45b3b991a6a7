// tensor_bytes: computes the bytes of tensors from the fields of torch's traces.
//
//   tensor_bytes("[[2, 3], []]", R"(["float", "Scalar"])")     // 24
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace traceloom {

// Returns the bytes of one element: "Float", "c10::BFloat16", "long int"; 0 for an unknown type.
std::int64_t type_bytes(std::string_view dtype);

// Returns the bytes of `elements` of that type; 0 (not known) if the type is unknown or the product
// is no size.
std::int64_t tensor_bytes(std::int64_t elements, std::string_view dtype);

// Returns the bytes of all tensors among the arguments of an operator: "Input Dims" and "Input
// type", two lists with one element an argument. "[]" is a number and no tensor, "[[2], [3]]" is
// several tensors of one type. It returns 0 (not known) if the lists are cut, do not match, or
// contain something that is no size, because a partial sum would be wrong.
std::int64_t tensor_bytes(std::string_view dims, std::string_view types);

// Counts only the argument with that number, by the same rules; 0 if there is none.
std::int64_t argument_bytes(std::string_view dims, std::string_view types, std::size_t argument);

}  // namespace traceloom
