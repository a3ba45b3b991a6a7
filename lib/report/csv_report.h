// CSV as RFC 4180 has it, but with LF: a header of column keys, one line a row, times in ns.
#pragma once

#include "report/table.h"

#include <string>

namespace traceloom {

std::string csv_report(const Table& table);

}  // namespace traceloom
