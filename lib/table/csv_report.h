// CSV as RFC 4180 has it, but with LF: a header of column keys, one line a row, times in ns.
#pragma once

#include "table/table.h"

#include <string>

namespace traceloom {

// Names are written byte for byte, but for what is not UTF-8.
std::string csv_report(const Table& table);

// For spreadsheets, which run a text that begins with = + - @, a tab or the end of a line: an
// apostrophe stands before it, as one who types it would put it. Numbers stay numbers.
std::string spreadsheet_csv_report(const Table& table);

}  // namespace traceloom
