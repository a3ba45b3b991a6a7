// The spelling of alignment.h's enums in options and reports.
#include "clock/alignment_words.h"

namespace traceloom {

std::string_view to_string(ClockMethod method) {
  switch (method) {
    case ClockMethod::sync:
      return "sync";
    case ClockMethod::rounds:
      return "rounds";
    case ClockMethod::same_boot:
      return "same_boot";
    case ClockMethod::sync_of_rank:
      return "sync_of_rank";
    case ClockMethod::sync_event:
      return "sync_event";
    case ClockMethod::collectives:
      return "collectives";
    case ClockMethod::base:
      return "base";
    case ClockMethod::epoch:
      return "epoch";
    case ClockMethod::merged:
      return "merged";
    case ClockMethod::given:
      return "given";
    case ClockMethod::none:
      return "none";
  }
  return {};
}

std::optional<AlignBy> parse_align_by(std::string_view name) {
  if (name == "auto") return AlignBy::any;
  if (name == "sync") return AlignBy::sync;
  if (name == "base") return AlignBy::base;
  if (name == "none") return AlignBy::none;
  return std::nullopt;
}

std::optional<DriftMode> parse_drift_mode(std::string_view name) {
  if (name == "constant") return DriftMode::constant;
  if (name == "linear") return DriftMode::linear;
  return std::nullopt;
}

}  // namespace traceloom
