// WrittenPart: what a process knows after it has written some of the files of a merge.
//
//   WrittenPart part = visitor.take_part();                // on the process that has written them
//   first_visitor.add_part(part);                          // on the one that writes the end
#pragma once

#include "base/problems.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceloom {

struct WrittenFile {
  std::size_t file = 0;
  std::uint64_t events = 0;
  ProblemCounts problems;

  template <typename Wire>
  void wire(Wire& wire) {
    wire(file, events, problems);
  }
};

struct WrittenPart {
  std::vector<WrittenFile> files;  // those with events or problems

  // For other processes: see team/wire.h.
  template <typename Wire>
  void wire(Wire& wire) {
    wire(files);
  }
};

}  // namespace traceloom
