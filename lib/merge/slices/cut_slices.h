// CutSlices: slices of our recorder that a save has cut, and the whole slices that supersede them.
//
//   survey.cut_slices.add(event);                     // any event with Key::cut_id
//   plan_cut_slices(surveys, plan);
//   plan.files[file].is_superseded(event, target);    // another file has the whole slice
//
// Why: a slice that lasts longer than a cycle is in that cycle's file up to the end of the cycle,
// and in the file of a later cycle as a whole. Both are one slice.
#pragma once

#include "event/event.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {

// The slices of one file; they are few.
struct CutSlices {
  struct Slice {
    std::string pid;  // JSON text
    std::string tid;
    std::string id;

    template <typename Wire>
    void wire(Wire& wire) {
      wire(pid, tid, id);
    }
  };
  std::vector<Slice> cut;    // is_cut_slice() is true
  std::vector<Slice> whole;  // is_cut_slice() is false

  // `event` has Key::cut_id.
  void add(const Event& event);
  void append(CutSlices later);
  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(cut, whole);
  }
};

// Slices by rank and the value of Key::cut_id. The thread does not matter: a slice may end in
// another thread than it began in.
using SupersededSlices = std::set<std::pair<std::int64_t, std::string>>;

}  // namespace traceloom
