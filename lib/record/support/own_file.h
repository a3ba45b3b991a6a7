// check_own_file(): checks that a file which lies where others may write was made by this user's
// recorder.
//
//   struct stat info {};
//   fstat(file, &info);
//   check_own_file(path, info);     // throws ForeignFile: "belongs to user 1000, not to ..."
#pragma once

#include "base/error.h"

#include <string>
#include <sys/stat.h>

namespace traceloom::record {

// Thrown if the file belongs to somebody else, or may be another one than its name says.
class ForeignFile : public Error {
 public:
  using Error::Error;
};

// Throws ForeignFile unless it is a regular file of this user and has one name.
void check_own_file(const std::string& path, const struct stat& info);

}  // namespace traceloom::record
