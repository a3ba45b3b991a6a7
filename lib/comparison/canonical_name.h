// canonical_name: returns the part of a kernel's name that stays when it is compiled for other
// sizes.
//
//   canonical_name("ampere_fp16_s16816gemm_fp16_128x128_ldg8_stages_64x3_tn")
//   == canonical_name("ampere_fp16_s16816gemm_fp16_64x64_ldg8_stages_32x6_tn")
//
// It leaves out template arguments, parameters, addresses and all numbers, and of a wait for
// torch's DataLoader the class of the iterator. Different kernels may have one canonical name: a
// GEMM with other tiles may be another GEMM. So it only joins names that are missing on the other
// side, and match_rows() looks at their operators and places, too.
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

std::string canonical_name(std::string_view name);

}  // namespace traceloom
