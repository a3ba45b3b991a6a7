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

// SampledTracks: finds the track of a file that a top-level sample belongs to. Samples know their
// thread by tid alone; a merge adds the pid, so that it can be merged again.
//
//   SampledTracks tracks(survey.tracks);
//   std::optional<std::size_t> track = tracks.find(find_member(sample, "pid"), "7");
class SampledTracks {
 public:
  explicit SampledTracks(const std::vector<TrackFacts>& tracks);

  // Finds a track by the JSON text of pid and tid; without a pid, the busiest thread of that tid.
  // Returns the place of the track, or of the first of several tracks that are one thread; nullopt
  // if there is none.
  std::optional<std::size_t> find(std::string_view pid, std::string_view tid) const;
  // Adds the next track, with its pid and tid.
  void add(const TrackFacts& track);

 private:
  struct Thread {
    std::size_t track = 0;
    std::uint64_t events = 0;
  };
  // Keys: canonical tid, canonical pid.
  std::map<std::string, std::map<std::string, Thread>> threads_;
  std::size_t tracks_ = 0;
};

// Marks the tracks that the samples (a JSON list) belong to, and adds tracks for threads that have
// nothing but samples.
void mark_sampled_tracks(std::string_view samples, std::vector<TrackFacts>& tracks);

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
