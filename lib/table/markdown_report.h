// Writes a GitHub-flavoured Markdown table, padded so that its source is readable too.
#pragma once

#include "table/table.h"

#include <string>
#include <string_view>

namespace traceloom {

// Names look unchanged: characters that Markdown or HTML would interpret (<float>, *, |) are
// escaped.
std::string markdown_report(const Table& table);

// Returns one line of text that looks unchanged: characters that Markdown, HTML or a terminal would
// interpret are escaped.
std::string markdown_line(std::string_view text);

}  // namespace traceloom
