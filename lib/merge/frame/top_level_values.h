// The values that stand next to the event lists of the inputs: what a merge does with each, and
// the form that the output gives them.
#pragma once

#include "merge/facts/file_survey.h"
#include "merge/plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// Returns a sample's time, or nullopt if the sample is no object or has no usable time. Such a
// sample is left out.
std::optional<std::int64_t> time_sample(std::string_view sample);

// Makes strict JSON of the values next to the event list, and adds what they say: times and tracks
// of samples, groups of stack frames, problems.
void survey_top_level(FileSurvey& survey);
// Fills keeps_subtraces and problems of all FilePlans: an embedded trace stays if no other file has one
// and the times of its file do not change.
void plan_subtraces(MergePlan& plan);

// TopLevelValues: the values that stand next to the event lists of the inputs, in the form that the
// output gives them.
//
//   const TopLevelValues values(plan);
//   values.write_kept(text);      // keys next to traceEvents, each after ",\n"
//   values.write_ranks(text);     // {"0":{...},"1":{...}}, for otherData
//
// Values may be large (64 MiB a file). They are strict JSON by now, so those that are kept are
// views into the surveys. Frames and samples, the largest, are walked in place; simdjson reads the
// others.

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

class TopLevelValues {
 public:
  // `plan` must outlive this object.
  explicit TopLevelValues(const MergePlan& plan);

  void write_kept(PieceWriter& out) const;
  void write_ranks(PieceWriter& out) const;

 private:
  using Members = std::map<std::string_view, std::string_view>;
  using Dictionary = std::map<std::string_view, Members>;  // plain values are under ""

  bool is_written(std::size_t file) const;
  Members find_equal(const std::vector<Members>& of_files) const;
  void add_file(std::size_t file);
  void add_value(std::size_t file, const TopLevelEntry& entry);
  void keep_run_values();
  void add_rank_value(std::int64_t rank, std::string_view key, std::string_view value);
  void add_dictionary(std::size_t file, std::string_view key, std::string_view value);
  void add_merged_ranks(std::string_view other_data);
  void write_frames(PieceWriter& out) const;
  void write_samples(PieceWriter& out) const;
  void write_dictionary(PieceWriter& out, std::string_view key, const Dictionary& dictionary) const;

  const MergePlan& plan_;
  std::vector<std::size_t> files_;   // files that something is written of
  std::vector<Members> run_values_;  // one a file
  std::vector<Members> metadata_;    // one a file: what catapult reads of its `metadata`
  Members kept_;
  Members kept_metadata_;
  std::vector<std::string_view> frames_;   // one a file, empty if it has none
  std::vector<std::string_view> samples_;  // the same
  std::map<std::string_view, Dictionary> dictionaries_;
  bool has_viztracer_base_ = false;
  // Values by rank and key. If several files of a rank have different values for a key, the list
  // has each of them.
  std::map<std::int64_t, std::map<std::string, std::vector<std::string_view>>> ranks_;
};

}  // namespace traceloom
