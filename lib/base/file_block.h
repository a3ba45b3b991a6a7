// FileBlock: a piece of a list of files.
//
//   const FileBlock own{2, 5};                                    // files 2, 3 and 4
#pragma once

#include <cstddef>
#include <limits>

namespace traceloom {

struct FileBlock {
  std::size_t begin = 0;
  std::size_t end = 0;  // one behind the last

  std::size_t size() const { return end - begin; }
};

// Longer than any list: for functions that cut it to theirs.
inline constexpr FileBlock kAllFiles{0, std::numeric_limits<std::size_t>::max()};

}  // namespace traceloom
