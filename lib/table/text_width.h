// Text that has to fit a terminal: measured in code points, shortened in its middle.
//
//   shorten_middle("void at::native::vectorized_elementwise_kernel", 20)   // "void
//   at::n…se_kernel"
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

// Code points of `text`, which is valid UTF-8. Wide characters count as one.
std::size_t text_width(std::string_view text);

// `text`, or its two ends around a "…", so that it is at most `width` (>= 1) code points: the names
// of kernels differ at both ends.
std::string shorten_middle(std::string_view text, std::size_t width);

}  // namespace traceloom
