// is_other_json: recognises JSON files that lie beside traces and are none: reports, settings,
// notes.
//
//   if (is_other_json("traces/report.json")) continue;
#pragma once

#include <string>

namespace traceloom {

// True if the file is one whole JSON object in which "traceEvents" does not occur. A trace that is
// damaged or cut is not: its reader has to report what is wrong. False also for a file of more than
// 4 MiB (uncompressed), which is not read to its end, and for a file that cannot be read. Of most
// traces only the first 4 KiB are read.
bool is_other_json(const std::string& path);

}  // namespace traceloom
