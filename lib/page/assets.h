// The page's style and script, from the files in assets/, with their hashes for the page's policy.
// CMake writes their definitions (cmake/page_assets.cmake).
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

struct PageAsset {
  std::string text;
  std::string_view sha256;  // of the text, in lower-case hexadecimal digits
};

extern const PageAsset kPageStyle;
extern const PageAsset kPageScript;

}  // namespace traceloom
