// Figures of the page as SVG: stacked bars, columns over steps, curves over time.
//
//   write_stacked_bars(html, "Where a step goes, by rank", {{.label = "rank 0", .total = "12.3 ms",
//                      .parts = {{"kernel", 0.63, "kernel 7.7 ms"}}}});
//
// A figure has role=img and a text that says what it shows; its numbers stand in a table beside it.
// Sizes are attributes in percent, never styles, which the page's policy forbids. A part's class is
// the name of a role, by which page.css colours it.
#pragma once

#include "page/html/html_writer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

struct BarPart {
  std::string_view role;  // a class of page.css
  double share = 0;       // of the figure's width or height
  std::string words;      // for whoever points at it
};

// Returns the part that `ns` is of a figure that is `room_ns` wide, with the words "name 1.234 ms".
BarPart time_part(std::string_view role, std::string_view name, std::int64_t ns,
                  std::int64_t room_ns);

struct Bar {
  std::string label;
  std::string total;  // shown behind the bar
  std::vector<BarPart> parts;
};

void write_legend(HtmlWriter& html, const std::vector<std::string_view>& roles);

// One bar a row, from left to right.
void write_stacked_bars(HtmlWriter& html, std::string_view words, const std::vector<Bar>& bars);

// One bar a column, from the bottom; `first` and `last` label the ends of the axis below.
void write_columns(HtmlWriter& html, std::string_view words, const std::vector<Bar>& bars,
                   std::string_view first, std::string_view last);

struct CurvePoint {
  std::int64_t at_ns = 0;
  double value = 0;
};

struct Curve {
  std::string title;
  std::string words = {};  // says the least, the most and the unit
  std::vector<CurvePoint> points = {};
  std::vector<CurvePoint> second = {};  // dashed, on the same scale
  bool has_steps = false;               // a value holds until the next point
  std::vector<std::pair<std::int64_t, std::int64_t>> bands = {};  // behind the lines: from, to
  std::optional<std::int64_t> mark_ns = {};                       // a line from top to bottom
  std::vector<std::int64_t> failed_ns = {};                       // the same in dashes
  double top = 0;  // the scale reaches there, if no value is greater
};

// From 0 or the least value, whichever is lower, to the greatest.
void write_curve(HtmlWriter& html, const Curve& curve);

}  // namespace traceloom
