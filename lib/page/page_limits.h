// The limits that keep a page below 2 MB, whatever the size of the run.
#pragma once

#include <cstddef>

namespace traceloom {

// Rows of a table, and of one that lists ranks or steps.
inline constexpr std::size_t kMostTableRows = 60;
// Nodes of the tree of calls.
inline constexpr std::size_t kMostTreeNodes = 200;
// Ranks that have a bar of their own.
inline constexpr std::size_t kMostBars = 48;
// Columns over steps, and points of a curve.
inline constexpr std::size_t kMostColumns = 120;
inline constexpr std::size_t kMostCurvePoints = 200;
inline constexpr std::size_t kMostCurves = 12;
// Bytes of the heat map before base64, and its rows and columns.
inline constexpr std::size_t kMostGridBytes = 300'000;
inline constexpr std::size_t kMostGridRows = 1024;
inline constexpr std::size_t kMostGridColumns = 400;
inline constexpr std::size_t kMostGridCells = kMostGridRows * kMostGridColumns;
// Cells of each of the three heat maps of a page of two sides.
inline constexpr std::size_t kMostSideCells = 65'536;
// Ranks of the table of who waits for whom.
inline constexpr std::size_t kMostWaiters = 16;

}  // namespace traceloom
