// TypeNames: one metadata event of each process that names the types of its heap dumps. catapult
// takes only the first one of a process, and a rank's process may have been several.
//
//   TypeNames names;
//   if (!names.take(event)) output.write(event);     // events as they are written
//   output.write(names.events());
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace traceloom {

class TypeNames {
 public:
  // False for any other event. `event` is strict JSON behind ",\n"; names of types are of their
  // file and process already.
  bool take(std::string_view event);
  // What has been taken, one event a process.
  std::string events() const;

 private:
  std::map<std::string, std::string> events_;  // by pid
};

}  // namespace traceloom
