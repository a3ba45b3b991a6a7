// Figures of a page of two sides: how each step of each rank changed, and the mean steps of both
// sides split into roles.
#pragma once

#include "page/comparison_page.h"
#include "page/html/html_writer.h"

namespace traceloom {

// Writes the heat map of the deltas, and the steps that changed most as a table. Without ranks and
// steps that both sides have, it says so.
void write_delta_map(HtmlWriter& html, const ComparisonPage& page);

// Writes two bars a rank: the ranks that changed most, if there are many.
void write_rank_bars(HtmlWriter& html, const ComparisonPage& page);

}  // namespace traceloom
