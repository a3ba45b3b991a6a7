// The frame of a page: its policy, style, contents list and scripts.
//
//   begin_page(html, "Traceloom: traces/", {{"overview", "Overview"}});
//   ...                                                   // the sections
//   end_page(html, "trace-stats report traces/", {});
#pragma once

#include "page/html/html_writer.h"

#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// `sections` are the id and the short name of each, in their order.
void begin_page(HtmlWriter& html, std::string_view title,
                const std::vector<std::pair<std::string_view, std::string_view>>& sections);
// `short_names` are the names in the page's commands, as "$RUN", and what they stand for.
void end_page(HtmlWriter& html, std::string_view command,
              const std::vector<std::pair<std::string_view, std::string_view>>& short_names);

}  // namespace traceloom
