// The timeline of all ranks as data for a page, the rows of a rank, and the names of its steps.
#pragma once

#include "analysis/account/account.h"
#include "analysis/collectives/collectives.h"
#include "analysis/waits/step_roles.h"
#include "run/run.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace traceloom {

// The names of steps in a page and its links: "12", or "1.12" for step 12 of epoch 1.

// True if steps are counted within epochs, of which there are several.
bool has_epochs(const std::vector<RankRoles>& roles);

std::string step_label(const StepKey& key, bool has_epochs);

// Names of the page's search, as page_name() has them, and their places there.
using PageNames = std::map<std::string, std::size_t>;

// Timeline: the events of all ranks, thinned out so that a page has room for them and the eye loses
// nothing.
//
//   const Timeline timeline =
//       make_timeline(run, roles, match_collectives(run), {.full_ranks = 32}, {.named = 5});
//   use(timeline.rows, timeline.slices, timeline.shades);
//
// A rank has rows for the computation and the communication of its devices, more than one each if
// streams overlap (find_rank_rows()), and up to two for the threads of its host: the one with the
// steps, and another one with many spans (the backward pass). A row keeps its longest slice of each
// step, those with a pixel in the windows of the slowest and the median step, further ones of each
// step in turn, and then its longest; all spans of its first line, kept or not, are also shades,
// which count how much of a bin's time they cover, and with which role. If there are too many
// ranks, the others have one thin row each, of shades and the longest slice of each step.
//
// Memory: the spans of one rank at a time, and what is kept.

struct TimelineLimits {
  std::size_t full_ranks = 32;
  std::size_t slices = 55'000;       // of all rows together
  std::size_t slices_a_step = 200;   // of a rank, but at least 8,000 for all
  std::size_t thin_slices = 20'000;  // of all thin rows together
  std::size_t sums = 2'500;          // steps of ranks with their sums
  std::size_t gaps = 6'000;          // of the devices of all ranks together
  std::size_t gaps_a_step = 10;      // of a rank, but at least 600 for all
  std::size_t least_gaps = 600;
  std::size_t bins = 65'536;               // of all rows and windows together
  std::size_t bins_a_row = 600;            // at most, of a window
  std::size_t names_bytes = 200'000;       // of all names together
  std::size_t names_bytes_a_rank = 6'500;  // but at least 26,000 for all
};

struct TimelineWindow {
  std::string name;
  Interval time;
};

struct TimelineRow {
  std::int64_t rank = 0;
  std::string label;
  bool is_thin = false;
  bool is_last = false;          // the last row of its rank
  bool is_copy = false;          // other rows of its rank may have its spans, too
  std::size_t bins = 0;          // of each window; a thin row has only the first window
  std::size_t lines = 1;         // depth of its slices
  std::size_t slices = 0;        // kept
  std::uint64_t all_slices = 0;  // that the traces have in it, as deep as it shows
  std::uint64_t deeper = 0;      // spans below these
};

struct TimelineStep {
  StepKey key;
  std::string label;
  Interval time;            // from its first begin to its last end on a rank
  std::uint64_t spans = 0;  // of the rows in full that begin in it, as deep as these show
};

// A rank that is shown in full, and why: "named", "median", "other".
struct FullRank {
  std::int64_t rank = 0;
  std::string_view why;
  std::size_t gaps = 0;  // kept
};

// What a rank did in a step, as `trace-stats steps` has it.
struct StepTimesOfRank {
  std::int64_t rank = 0;
  std::string label;
  Interval time;
  RoleTimes roles;
};

struct Timeline {
  std::int64_t end_ns = 0;
  std::vector<FullRank> ranks;        // in the order of their rows
  std::vector<StepTimesOfRank> sums;  // of these ranks
  // The whole run, then the slowest and the median step if there are several.
  std::vector<TimelineWindow> windows;
  std::size_t all_steps = 0;
  std::vector<TimelineStep> steps;  // those of the heat map and of the windows
  std::vector<TimelineRow> rows;
  // Of each row its slices by begin: LEB128 of the distance to the begin before, of the length and
  // of the number of the name; a byte of depth << 4 | role; of communication the wait.
  std::string slices;
  // Of each rank in full the longest times in which its devices do not work, by begin: LEB128 as of
  // slices, with one more than the number of the name, or 0; a byte of the row of the account, plus
  // 32 if others have more than a tenth.
  std::string gaps;
  // Of each row and window a byte a bin: role << 4 | covered share in 1/15.
  std::string shades;
  std::vector<std::string> names;
};

// What a page talks of: ranks that come first and are shown in full in any case, and steps.
struct PagePlaces {
  std::optional<std::int64_t> named = {};   // by the verdict or its evidence
  std::optional<std::int64_t> median = {};  // nearest to the median of the ranks' own times
  std::vector<StepKey> steps = {};          // to which the heat map leads, ascending
  const PageNames* names = nullptr;         // that the page has anyway, at no cost
};

// The ranks, as places in the run, in the order in which a page shows them: named, median, others.
std::vector<std::size_t> rank_order(const Run& run, const PagePlaces& places);
std::string_view why_of(std::int64_t rank, const PagePlaces& places);

// `collectives` say how long each piece of communication waited.
Timeline make_timeline(const Run& run, const std::vector<RankRoles>& roles,
                       const MatchedCollectives& collectives, const TimelineLimits& limits,
                       const PagePlaces& places);

// find_rank_rows: the spans of a rank, put on the rows of the timeline.

struct TimelineSlice {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::uint32_t label;  // number in Labels
  std::uint8_t depth;   // in other slices of its row
  Role role;
  std::int64_t wait_ns = 0;  // of communication: the time before the others came, at its begin
};

// Deeper slices are not shown: a row of the host is four lines high.
inline constexpr std::uint8_t kMostDepth = 4;

struct RankRow {
  std::string label;
  bool is_host = false;
  bool is_copy = false;                    // other rows may have its slices, too
  std::vector<TimelineSlice> slices = {};  // by begin, an outer one before those in it
};

// Rows without slices are left out. The rows of devices come first: computation, then
// communication. Each has one row ("rank 0 devices", "rank 0 comm") unless streams run at the same
// time, so that no stream is painted over another one: then a stream that overlaps another one has
// a row of its own, named after it, and streams that never do share one. There are at most four of
// each; the last one has all other streams, and those after the 64 busiest. Without devices that
// communicate, the row "rank 0 comm" has the communication of all threads of the host. Then come
// those of the host: the thread with the step marks, or with the most spans, and the busiest other
// one if it has at least a fifth of that one's spans. Functions of Python are left out of a thread
// that has other spans: their outer ones cover everything, and the flame graph has them.
std::vector<RankRow> find_rank_rows(const Run& run, const RankEvents& rank);

}  // namespace traceloom
