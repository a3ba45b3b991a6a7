// The deltas of a page of two sides, section by section: what stands above the sections of both
// sides.
//
//   open_section(html, "comm", "Communication");
//   write_deltas(html, page, "comm");
#pragma once

#include "page/comparison_page.h"
#include "page/html/html_writer.h"

#include <string_view>

namespace traceloom {

// Writes nothing for a section without deltas.
void write_deltas(HtmlWriter& html, const ComparisonPage& page, std::string_view section);

}  // namespace traceloom
