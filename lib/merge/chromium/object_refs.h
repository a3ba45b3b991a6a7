// ObjectRefs: renames references between objects inside args. {"id_ref": "0x7f"} refers to the
// object with that id, and a snapshot may hold objects that are named nowhere else, {"id":
// "cc::Layer/0x7f"}.
//
//   ObjectRefs refs(file, "1166", "\"ptr\"");     // for an event of that process and scope
//   if (ObjectRefs::may_have(args)) refs.append(out, args);
#pragma once

#include "merge/plan/plan.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace traceloom {

// Values must be strict JSON.
class ObjectRefs {
 public:
  // `pid` is canonical, `scope` the JSON text; both are those of the event. All arguments must
  // outlive this object.
  ObjectRefs(const FilePlan& file, std::string_view pid, std::string_view scope)
      : file_(file), pid_(pid), scope_(scope) {}

  // Returns false if there is nothing to rename.
  static bool may_have(std::string_view value) {
    return value.find("_ref\"") != std::string_view::npos ||
           value.find("Ref\"") != std::string_view::npos;
  }
  // Appends the value with all references renamed. A reference to an object that the file does not
  // have stays; if it would lead to an object of another file, it becomes "source_id_ref".
  void append(std::string& out, std::string_view value) const { append(out, value, false); }
  // Does the same, and also renames the ids of objects inside the snapshot.
  void append_snapshot(std::string& out, std::string_view snapshot) const;

 private:
  void append(std::string& out, std::string_view value, bool in_snapshot) const;
  void append_object(std::string& out, std::string_view object, bool in_snapshot,
                     bool is_snapshot) const;
  std::optional<std::string> new_id(std::string_view pid, std::string_view scope,
                                    std::string_view id) const;
  void append_pid(std::string& out, const std::string& pid) const;
  bool is_taken(std::string_view id) const;

  const FilePlan& file_;
  std::string_view pid_;
  std::string_view scope_;
};

// Calls `found` with the id (JSON text) of each object within the snapshot.
void find_objects_in_snapshot(std::string_view snapshot,
                              const std::function<void(std::string_view id)>& found);

}  // namespace traceloom
