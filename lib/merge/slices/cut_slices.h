// CutSlices: slices of our recorder that a save has cut, and those of which a file has all.
//
//   survey.cut_slices.add(event);                     // any event with Key::cut_id
//   plan_cut_slices(surveys, plan);
//   plan.files[file].is_superseded(event, target);    // another file has all of it
//
// Why: the file of a cycle shows what lasts longer than the cycle, up to its end, and that of a
// later cycle has it from its begin. It is one slice.
#pragma once

#include "event/event.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// Of one file; few.
struct CutSlices {
  struct Slice {
    std::string pid;  // JSON text
    std::string tid;
    std::string id;
  };
  std::vector<Slice> cut;    // is_cut_slice()
  std::vector<Slice> whole;  // X

  // `event` has Key::cut_id.
  void add(const Event& event);
  void append(CutSlices later);
};

// By rank and the value of Key::cut_id: a slice may end in another thread than it began in.
using SupersededSlices = std::set<std::pair<std::int64_t, std::string>>;

}  // namespace traceloom
