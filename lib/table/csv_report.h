// Writes CSV by RFC 4180, but with LF: a header of column keys, one line a row, times in ns.
#pragma once

#include "table/table.h"

#include <string>

namespace traceloom {

// Names are written byte for byte, except bytes that are not UTF-8.
std::string csv_report(const Table& table);

// The same for spreadsheets, which run a text that begins with = + - @, a tab or the end of a line.
// Such a text gets an apostrophe before it, as a user would type it. Numbers stay numbers.
std::string spreadsheet_csv_report(const Table& table);

}  // namespace traceloom
