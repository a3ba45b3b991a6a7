// A file gets a name that no other file has.
//
//   if (const int error = move_to_new_name(".rank0.json.tmp", "rank0.json")) ...  // EEXIST: taken
#pragma once

#include <string>

namespace traceloom {

// Atomic where the file system can rename without replacing, or knows hard links; elsewhere there
// is a moment in which somebody else's file of that name would be lost. Returns 0, or an errno:
// EEXIST when the name is taken. Then the file keeps the name it has.
int move_to_new_name(const std::string& from, const std::string& to);

}  // namespace traceloom
