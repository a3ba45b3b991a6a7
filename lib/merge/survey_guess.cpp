#include "merge/survey_guess.h"

#include "base/error.h"
#include "input/seekable_file.h"
#include "input/sniff.h"
#include "merge/frame.h"
#include "merge/survey_visitor.h"
#include "scan/list_reader.h"

#include <algorithm>
#include <atomic>
#include <string_view>
#include <thread>
#include <utility>

namespace traceloom {
namespace {

// In real traces GPU streams, autograd threads and data loader workers come late, and what the
// profiler says of itself stands at the end.
constexpr int kPiecesBetween = 8;
constexpr std::size_t kMaxHead = std::size_t{512} << 10;
constexpr std::size_t kMaxPiece = std::size_t{64} << 10;
constexpr std::size_t kMaxTail = std::size_t{256} << 10;

std::size_t share_of(std::uint64_t size, std::uint64_t divisor, std::size_t least,
                     std::size_t most) {
  return static_cast<std::size_t>(std::clamp<std::uint64_t>(size / divisor, least, most));
}

// Surveys the pieces of one file.
class Sampler {
 public:
  explicit Sampler(const std::string& path)
      : path_(path), parser_(path), visitor_(1, on_failure_) {}

  std::optional<FileSurvey> run() {
    const std::optional<SeekableFile> file = SeekableFile::open(path_);
    if (!file) return std::nullopt;
    const std::uint64_t size = file->size();
    const std::size_t head = share_of(size, 16, std::size_t{32} << 10, kMaxHead);
    if (!read_head(file->read(0, head))) return std::nullopt;
    const std::size_t piece = share_of(size, 512, std::size_t{4} << 10, kMaxPiece);
    const std::size_t tail = share_of(size, 32, std::size_t{16} << 10, kMaxTail);
    for (std::uint64_t i = 1; i <= kPiecesBetween; ++i)
      read_piece(*file, i * size / (kPiecesBetween + 1), piece);
    read_piece(*file, size - std::min<std::uint64_t>(size, tail), tail);
    return finish(size);
  }

 private:
  bool read_head(const std::string& text) {
    if (is_gzip(text) || sniff_foreign(text)) return false;
    const std::size_t list = parser_.feed(text);
    if (parser_.state() != TopLevelParser::State::in_list) return false;
    scan(std::string_view(text).substr(list), list, Position::first);
    read_to_ = text.size();
    return true;
  }

  // Not what has been read already, nor what stands behind the list.
  void read_piece(const SeekableFile& file, std::uint64_t offset, std::size_t size) {
    const std::uint64_t end = std::min(offset + size, file.size());
    offset = std::max(offset, read_to_);
    if (offset >= end || has_ended_) return;
    const std::string text = file.read(offset, static_cast<std::size_t>(end - offset));
    const std::size_t start = find_event_start(text, 0);
    if (start != std::string_view::npos)
      scan(std::string_view(text).substr(start), offset + start, Position::after_comma);
    read_to_ = end;
  }

  void scan(std::string_view text, std::uint64_t offset, Position position) {
    const ScannedText scanned = scan_text(visitor_, 0, text, offset, position, Behind::more_text);
    visitor_.take(*scanned.result, 0);
    if (scanned.end != ScanEnd::array) return;
    has_ended_ = true;
    parser_.resume(offset + scanned.end_position);
    parser_.feed(text.substr(scanned.end_position));
  }

  std::optional<FileSurvey> finish(std::uint64_t size) {
    parser_.finish(size, false);
    visitor_.end_file(0, {parser_, {}, 0, size});
    FileSurvey survey = std::move(visitor_.take_surveys().front());
    survey.problems = {};
    // Who has a name has events, mostly; on two of three traces the samples miss a rare one.
    for (TrackFacts& track : survey.tracks)
      if (!track.name.empty()) track.events = std::max<std::uint64_t>(track.events, 1);
    if (survey.evidence.was_merged()) return std::nullopt;
    return survey;
  }

  const std::string& path_;
  TopLevelParser parser_;
  FailureHandler on_failure_;
  SurveyVisitor visitor_;
  std::uint64_t read_to_ = 0;
  bool has_ended_ = false;  // the list has, within what was read
};

}  // namespace

std::optional<std::vector<FileSurvey>> guess_surveys(const std::vector<std::string>& paths,
                                                     unsigned threads) {
  std::vector<FileSurvey> surveys(paths.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size() && !failed; i = next++) {
      try {
        std::optional<FileSurvey> survey = Sampler(paths[i]).run();
        if (survey)
          surveys[i] = std::move(*survey);
        else
          failed = true;
      } catch (const Error&) {
        failed = true;  // the whole survey will say what is wrong
      }
    }
  };
  {
    const std::size_t wanted = threads > 0 ? threads : std::thread::hardware_concurrency();
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(wanted, paths.size()); ++i) helpers.emplace_back(work);
    work();
  }
  if (failed) return std::nullopt;
  return surveys;
}

bool writes_the_same(const MergePlan& guess, const std::vector<FileSurvey>& guess_surveys,
                     const MergePlan& plan, const std::vector<FileSurvey>& surveys) {
  if (head_of_trace(guess) != head_of_trace(plan) || !guess.tracks.covers(plan.tracks))
    return false;
  // The offset, too: what is wrong with the event is reported there.
  const auto is_same_metadata = [](const KeptMetadata& a, const KeptMetadata& b) {
    return a.text == b.text && a.offset == b.offset;
  };
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    const FilePlan& a = guess.files[i];
    const FilePlan& b = plan.files[i];
    if (a.shift_ns != b.shift_ns || a.orphan_ends != b.orphan_ends) return false;
    if (a.flow_ids != b.flow_ids || a.bind_ids != b.bind_ids || a.async_ids != b.async_ids ||
        a.keeps_async_ids != b.keeps_async_ids)
      return false;
    if (!std::ranges::equal(guess_surveys[i].metadata, surveys[i].metadata, is_same_metadata))
      return false;
  }
  return true;
}

}  // namespace traceloom
