// move_to_new_name: renames a file to a name that no other file has.
//
//   if (const int error = move_to_new_name(".rank0.json.tmp", "rank0.json")) ...  // EEXIST: taken
#pragma once

#include <string>

namespace traceloom {

// It is atomic if the file system can rename without replacing, or supports hard links. On other
// file systems there is a short time in which a file of another program with that name would be
// lost. Returns 0, or an errno: EEXIST if the name is taken; the file then keeps its old name.
int move_to_new_name(const std::string& from, const std::string& to);

}  // namespace traceloom
