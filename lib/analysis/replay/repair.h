// Repair: one thing of a job that is made like others, faster, or left away.
//
//   const Repair repair = Repair::parse("rank 5 = median");
//   repair.text()                                        // the same
#pragma once

#include "analysis/mesh/mesh.h"
#include "select/selection.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom {

struct Repair {
  enum class Kind : std::uint8_t {
    rank,
    stage,
    link,
    group,
    loader,
    communication,  // collectives and messages
    collectives,
    messages,
    axis,
    launch,
    kernel,
  };

  // Reads "rank 5 = median", "stage 3 = median", "link 2-4 = median", "group 6,7 = median",
  // "kernel flash.* = -20%", or what is left away: "loader = 0", "collectives = 0", "messages = 0",
  // "communication = 0", "launch = 0", "tp = 0" (or another axis). Throws UsageError.
  static Repair parse(std::string_view text);
  // Returns what parse() reads.
  std::string text() const;
  // True if it is made as the others are that are like it; otherwise it becomes faster, or goes.
  bool is_like_others() const { return kind <= Kind::group; }
  // Returns "rank 5", "stage 3", "the link of ranks 2 and 4", "the group of ranks 6 and 7"; empty
  // for what is not made like others.
  std::string whom() const;
  // Returns the repair in words: "rank 5 like the others of its stage".
  std::string words() const;
  // Returns the kernel's name, or the expression for it.
  std::string name() const { return exact.empty() ? names->expression() : exact; }

  Kind kind = Kind::loader;
  std::vector<std::int64_t> ranks = {};  // the rank, the stage, the ends of the link, the group
  Axis axis = Axis::other;
  std::optional<NamePattern> names = {};
  std::string exact = {};  // the one name that `names` finds, if it is one
  double change = 0;       // of a kernel's time: -0.2

  bool operator==(const Repair& other) const { return text() == other.text(); }
};

}  // namespace traceloom
