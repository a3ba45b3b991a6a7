// TypeNames: makes one metadata event of all those of a process that name the types of its heap
// dumps. Catapult takes only the first one of a process, and a rank's process may have been
// several.
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
  // Returns false for any other event. `event` is strict JSON after ",\n"; its names of types are
  // unique to their file and process already.
  bool take(std::string_view event);
  // Returns what has been taken, as one event a process.
  std::string events() const;

 private:
  std::map<std::string, std::string> events_;  // key: pid
};

}  // namespace traceloom
