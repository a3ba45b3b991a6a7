// A GitHub-flavoured Markdown table, padded so that its source reads well too.
#pragma once

#include "report/table.h"

#include <string>

namespace traceloom {

// Names come out as they are: what Markdown or HTML would read in them (<float>, *, |) is escaped.
std::string markdown_report(const Table& table);

}  // namespace traceloom
