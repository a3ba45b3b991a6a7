// A GitHub-flavoured Markdown table, padded so that its source reads well too.
#pragma once

#include "table/table.h"

#include <string>
#include <string_view>

namespace traceloom {

// Names come out as they are: what Markdown or HTML would read in them (<float>, *, |) is escaped.
std::string markdown_report(const Table& table);

// One line of text as it is: what Markdown, HTML or a terminal would obey in it is escaped.
std::string markdown_line(std::string_view text);

}  // namespace traceloom
