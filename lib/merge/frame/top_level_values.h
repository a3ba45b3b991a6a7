// The values that stand next to the event lists of the inputs: what a merge does with each, and
// the form that the output gives them.
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace traceloom {

// Returns a sample's time, or nullopt if the sample is no object or has no usable time. Such a
// sample is left out.
std::optional<std::int64_t> time_sample(std::string_view sample);

// Makes strict JSON of the values next to the event list, and adds what they say: times and tracks
// of samples, groups of stack frames, problems.
void survey_top_level(FileSurvey& survey);
// Fills keeps_subtraces and problems of all FilePlans: an embedded trace stays if no other file has
// one and the times of its file do not change.
void plan_subtraces(MergePlan& plan);

// Collects text for the output and hands it on piece by piece.
class PieceWriter {
 public:
  using Sink = std::function<void(std::string_view)>;
  explicit PieceWriter(Sink sink) : sink_(std::move(sink)) {}

  // Small texts are appended to this; call flush_if_large() now and then.
  std::string& text() { return text_; }
  void flush_if_large() {
    if (text_.size() > kPiece) flush();
  }
  void write(std::string_view piece) {
    if (piece.size() < kPiece) {
      text_ += piece;
      return flush_if_large();
    }
    flush();
    sink_(piece);
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 18;
  Sink sink_;
  std::string text_;
};

// Writes what stands behind the event list: the keys next to it, each after ",\n", and otherData
// with what write_own() writes as its first members and "ranks" as its last.
void write_top_level(const MergePlan& plan, PieceWriter& out,
                     const std::function<void()>& write_own);

}  // namespace traceloom
