// SlowSteps: the steps of both sides that are much longer than the others of their capture. The
// verdict leaves them out, however many there are, so the report has to count them.
//
//   const SlowSteps slow(sides, found.looks);
//   if (slow.has_any()) report.headline.push_back(slow.line());
#pragma once

#include "comparison/comparison.h"

#include <cstddef>
#include <string>

namespace traceloom {

class SlowSteps {
 public:
  // Counts the captures of the first look, and with two looks those of the second.
  SlowSteps(const ComparedSides& sides, int looks);

  bool has_any() const { return base_.slow + changed_.slow > 0; }
  std::string line() const;
  std::string json() const;

 private:
  struct Count {
    std::size_t slow = 0;
    std::size_t all = 0;  // without the first of each capture

    void add(const std::vector<Capture>& captures);
  };

  Count base_;
  Count changed_;
};

}  // namespace traceloom
