// A file without a name: for bytes that do not fit into memory, or have to be read again.
//
//   const int descriptor = open_unnamed_file(temporary_folder());
#pragma once

#include <string>

namespace traceloom {

// $TMPDIR, or /tmp where that is not set.
std::string temporary_folder();

// For reading and writing by this user alone. The file is gone with the process however that ends.
// -1 with errno when it cannot be created.
int open_unnamed_file(const std::string& folder);

}  // namespace traceloom
