// The titles and the kinds of readers with which tables of steps show the roles.
//
//   for (std::size_t i = 0; i < kRoleCount; ++i) {
//     const Role role = static_cast<Role>(i);
//     columns.push_back({key_of(role), role_title(role), ColumnKind::share, role_readers(role)});
//   }
#pragma once

#include "run/event_class.h"
#include "table/table.h"

#include <string>

namespace traceloom {

// Returns the title of a role's column: "Comm".
std::string role_title(Role role);

// Returns who is shown a role's column. On a narrow terminal the columns of roles that are mostly
// 0 go first.
Readers role_readers(Role role);

}  // namespace traceloom
