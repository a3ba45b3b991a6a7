// Tables of a comparison on its page: those of its report, and its rows by what they are.
//
//   write_compared(html, page, "roles", "By role");
//   write_rows_of(html, page, RowsOf::devices);
//
// All are of a mean step of the shown rank (Comparison::shown), over all captures.
#pragma once

#include "page/comparison_page.h"
#include "page/html/html_writer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

// Writes a table of the report, with its title if `caption` is empty.
void write_compared(HtmlWriter& html, const ComparisonPage& page, std::string_view key,
                    const std::string& caption);

enum class RowsOf : std::uint8_t { communication, devices };

// Writes the rows of devices, or of communication alone, with all their time, also where other work
// hides it, and with its share of the step.
void write_rows_of(HtmlWriter& html, const ComparisonPage& page, RowsOf what);

// Writes the rows by operator: by its work on devices, or by its own time if there is none.
void write_operators(HtmlWriter& html, const ComparisonPage& page);

// Returns the roles that take time on a rank of either side.
std::vector<Role> roles_with_time(const std::vector<RankDelta>& ranks);

// Writes of each rank how much each role of its mean step changed.
void write_rank_roles(HtmlWriter& html, const ComparisonPage& page);

}  // namespace traceloom
