#include "merge/passes/input_limits.h"

#include "base/units.h"

#include <fmt/format.h>

namespace traceloom {

std::string too_many_begins(const MergeOptions& options) {
  return fmt::format(
      "has more than {} begin events open at a time, and no viewer shows them so deep; are its "
      "end events lost? --max-open takes more, at some 1.3 KB each",
      format_count(options.max_open_begins));
}

std::string why_too_large(const FileSurvey& survey, const MergeOptions& options) {
  if (survey.has_too_many_tracks)
    return fmt::format(
        "has more than {} threads{}, and no viewer shows so many; are its tids the numbers of "
        "requests? --max-tracks takes more, at some 1.8 KB each",
        format_count(options.max_tracks),
        survey.tracks_before == 0 ? ""
                                  : fmt::format(", together with the {} of the inputs before it",
                                                format_count(survey.tracks_before)));
  return survey.most_open_begins > options.max_open_begins ? too_many_begins(options) : "";
}

}  // namespace traceloom
