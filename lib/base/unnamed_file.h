// A file without a name, for bytes that do not fit into memory or have to be read again.
//
//   const int descriptor = open_unnamed_file(temporary_folder());
#pragma once

#include <string>

namespace traceloom {

// Returns $TMPDIR, or /tmp if that is not set.
std::string temporary_folder();

// Opens a file that only this user can read and write. The file disappears with the process,
// however the process ends. Returns -1 and sets errno if the file cannot be created.
int open_unnamed_file(const std::string& folder);

}  // namespace traceloom
