// NameTemplate: makes the names of trace files of what is known when they are written.
//
//   NameTemplate name("ep{epoch}-ba{batch}-rank{rank}.json");
//   name.expand(run, position)   // "ep0-ba5-rank0.json"
//
// traceloom.h lists the placeholders: those of a run are known from the start, those of a position
// only there.
#pragma once

#include "record/names/run_place.h"
#include "record/position.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceloom::record {

inline constexpr std::string_view kDefaultFolder = "{run_name}/traces";
inline constexpr std::string_view kDefaultFileName = "ep{epoch}-ba{batch}-rank{rank}.json";
inline constexpr std::string_view kDefaultMergedName = "node{node_rank}.json";

struct RunIdentity {
  std::string run_name;
  RunPlace place;
};

class NameTemplate {
 public:
  explicit NameTemplate(std::string_view text);

  // Expands the name of a folder or of a merged file: placeholders of a position stay as they are.
  std::string expand(const RunIdentity& run) const { return expand(run, nullptr); }
  std::string expand(const RunIdentity& run, const Position& position) const {
    return expand(run, &position);
  }

  // True if two processes of a run never make the same name: it has {rank}, or {local_rank} and
  // {node_rank}.
  bool tells_ranks() const;

  // True if two places of the training may make two names of it: it has {batch} or the like.
  bool tells_positions() const;

  // Says which process of the run could make a name at some position, if any.
  enum class Owner : std::uint8_t { nobody, this_rank, other_rank };
  Owner owner_of(std::string_view name, const RunIdentity& run) const;

 private:
  struct Part {
    std::string text;  // a literal, or the placeholder as it was written
    std::string name;  // name of the placeholder; empty for a literal
    int digits = 0;    // at least so many
  };

  std::string expand(const RunIdentity& run, const Position* position) const;
  bool mentions(std::string_view name) const;
  bool matches(std::string_view name, std::size_t part, const RunIdentity& run,
               bool any_rank) const;

  std::vector<Part> parts_;
};

}  // namespace traceloom::record
