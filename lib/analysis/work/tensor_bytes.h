// How many bytes tensors take, as far as torch's traces tell.
//
//   tensor_bytes("[[2, 3], []]", R"(["float", "Scalar"])")     // 24
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace traceloom {

// Bytes of one element: "Float", "c10::BFloat16", "long int"; 0 for what is not known.
std::int64_t type_bytes(std::string_view dtype);

// `elements` of that type; 0, not known, when either is not or the product is no size.
std::int64_t tensor_bytes(std::int64_t elements, std::string_view dtype);

// Of all tensors among the arguments of an operator: "Input Dims" and "Input type", two lists of
// one element an argument. "[]" is a number and no tensor, "[[2], [3]]" is several tensors of one
// type. 0, not known, when the lists are cut, do not match, or have anything in them that is no
// size: a part of the whole would be wrong.
std::int64_t tensor_bytes(std::string_view dims, std::string_view types);

// Counts the argument with that number alone, as above; 0 also where there is none.
std::int64_t argument_bytes(std::string_view dims, std::string_view types, std::size_t argument);

}  // namespace traceloom
