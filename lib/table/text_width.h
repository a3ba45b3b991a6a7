// text_width, shorten_middle, wrap_words: measure text in code points, and fit it to a terminal.
//
//   shorten_middle("void at::native::vectorized_elementwise_kernel", 20)
//   // "void at::n…se_kernel"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Returns the number of code points of `text`, which is valid UTF-8. Wide characters count as one.
std::size_t text_width(std::string_view text);

// Returns `text`, or its two ends around a "…", with at most `width` (>= 1) code points. Both ends
// stay because the names of kernels differ at both ends.
std::string shorten_middle(std::string_view text, std::size_t width);

// Returns the lines of `text`, broken at spaces so that none has more than `width` code points. A
// word that is longer has a line of its own. "\n" ends a line.
std::vector<std::string> wrap_words(std::string_view text, std::size_t width);

}  // namespace traceloom
