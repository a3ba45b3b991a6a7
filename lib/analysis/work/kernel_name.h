// kernel_name: returns the name of a kernel without the arguments of its function.
//
//   kernel_name("void (anonymous namespace)::sum<float>(float*, int)")
//   == "void (anonymous namespace)::sum<float>"
#pragma once

#include <string_view>

namespace traceloom {

// `name` is a C++ function as a demangler writes it, or any other text, which has no arguments.
// Arguments that are cut are left out as well.
std::string_view kernel_name(std::string_view name);

}  // namespace traceloom
