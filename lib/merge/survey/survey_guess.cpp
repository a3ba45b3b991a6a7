#include "merge/survey/survey_guess.h"

#include "base/problems.h"
#include "input/byte_source.h"
#include "input/open.h"
#include "input/zstd_source.h"
#include "merge/frame/frame.h"
#include "merge/survey/survey_visitor.h"
#include "scan/list_reader.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

namespace traceloom {
namespace {

// The number of pieces between head and tail. In real traces GPU streams, autograd threads and data
// loader workers come late, and what the profiler says of itself stands at the end.
constexpr std::uint64_t kPiecesBetween = 8;

// The bytes to read of a text of `size` bytes.
struct SampleSizes {
  std::size_t head;
  std::size_t piece;
  std::size_t tail;

  static SampleSizes of(std::uint64_t size) {
    const auto share = [&](std::uint64_t divisor, std::size_t least, std::size_t most) {
      return static_cast<std::size_t>(std::clamp<std::uint64_t>(size / divisor, least, most));
    };
    return {share(16, std::size_t{32} << 10, std::size_t{512} << 10),
            share(512, std::size_t{4} << 10, std::size_t{64} << 10),
            share(32, std::size_t{16} << 10, std::size_t{256} << 10)};
  }
};

// Surveys pieces of one file.
class Sampler {
 public:
  Sampler(const std::string& path, const std::vector<std::string>& shared_flows)
      : parser_(path), visitor_(1, on_failure_, {.shared_flows = shared_flows}) {}

  // Returns false if the text does not begin as a trace.
  bool read_head(std::string_view text) {
    if (sniff_foreign(text)) return false;
    const std::size_t list = parser_.feed(text);
    if (parser_.state() != TopLevelParser::State::in_list) return false;
    scan(text.substr(list), list, Position::first);
    read_to_ = text.size();
    return true;
  }

  // Reads a piece that stands at `offset`, after the head. Skips what has been read already, and
  // what stands after the list.
  void read_piece(std::string_view text, std::uint64_t offset) {
    const std::uint64_t end = offset + text.size();
    if (end <= read_to_ || has_ended_) return;
    const std::uint64_t known = offset < read_to_ ? read_to_ - offset : 0;
    text.remove_prefix(static_cast<std::size_t>(known));
    const std::size_t start = find_event_start(text, 0);
    if (start != std::string_view::npos)
      scan(text.substr(start), offset + known + start, Position::after_comma);
    read_to_ = end;
  }

  std::optional<FileSurvey> finish(std::uint64_t size) {
    parser_.finish(size, false);
    visitor_.end_file(0, {parser_, {}, 0, size});
    FileSurvey survey = std::move(visitor_.take_surveys().front());
    survey.problems = {};
    // Assume that a named track has events: in two of three real traces the samples missed a rare
    // one.
    for (TrackFacts& track : survey.tracks)
      if (!track.name.empty()) track.events = std::max<std::uint64_t>(track.events, 1);
    // Samples tear begins from their ends, and collectives from those of other files. The guess
    // leaves both out; it is right if clocks do not depend on collectives.
    survey.async_slices = {};
    survey.evidence.collectives = {};
    if (survey.evidence.was_merged()) return std::nullopt;
    return survey;
  }

 private:
  void scan(std::string_view text, std::uint64_t offset, Position position) {
    const ScannedText scanned = scan_text(visitor_, 0, text, offset, position, Behind::more_text);
    visitor_.take(*scanned.result, 0);
    if (scanned.end != ScanEnd::array) return;
    has_ended_ = true;
    parser_.resume(offset + scanned.end_position);
    parser_.feed(text.substr(scanned.end_position));
  }

  TopLevelParser parser_;
  FailureHandler on_failure_;
  SurveyVisitor visitor_;
  std::uint64_t read_to_ = 0;
  bool has_ended_ = false;  // the list has ended within what was read
};

std::optional<FileSurvey> sample_plain(const std::string& path, const SeekableFile& file,
                                       const std::vector<std::string>& shared_flows) {
  Sampler sampler(path, shared_flows);
  const std::uint64_t size = file.size();
  const SampleSizes sizes = SampleSizes::of(size);
  if (!sampler.read_head(file.read(0, sizes.head))) return std::nullopt;
  for (std::uint64_t i = 1; i <= kPiecesBetween; ++i) {
    const std::uint64_t offset = i * size / (kPiecesBetween + 1);
    sampler.read_piece(file.read(offset, sizes.piece), offset);
  }
  const std::uint64_t tail = size - std::min<std::uint64_t>(size, sizes.tail);
  sampler.read_piece(file.read(tail, sizes.tail), tail);
  return sampler.finish(size);
}

// A byte of a packed file usually is so many bytes of text.
constexpr std::uint64_t kGzipRatio = 14;
constexpr std::uint64_t kZstdRatio = 25;

// Samples a packed file by unpacking all of it: no place in it can be reached except from its
// beginning. Unpacking it twice and reading it once still takes two thirds of the time of reading
// it twice (ISA-L unpacks 3 GB/s a core, zstd 1.5).
std::optional<FileSurvey> sample_packed(const std::string& path, std::uint64_t stored_size,
                                        std::uint64_t usual_ratio,
                                        const std::vector<std::string>& shared_flows,
                                        FileWatch& watch) {
  Sampler sampler(path, shared_flows);
  const SampleSizes sizes = SampleSizes::of(usual_ratio * stored_size);
  const std::unique_ptr<ByteSource> source = open_input(path, &watch);
  std::string block(sizes.head, '\0');
  block.resize(source->read(block));
  if (!sampler.read_head(block)) return std::nullopt;
  std::uint64_t size = block.size();
  block.resize(std::max(sizes.piece, sizes.tail));
  std::string before(block.size(), '\0');  // the block before it
  std::size_t before_size = 0;
  std::uint64_t next_piece = 1;
  std::size_t got = 0;
  while ((got = source->read(block)) > 0) {
    if (source->stored_bytes_read() * (kPiecesBetween + 1) >= next_piece * stored_size) {
      sampler.read_piece(std::string_view(block).substr(0, std::min(got, sizes.piece)), size);
      ++next_piece;
    }
    size += got;
    if (got < block.size()) break;
    before_size = got;
    block.swap(before);
  }
  std::string tail = before.substr(0, before_size) + block.substr(0, got);
  tail.erase(0, tail.size() - std::min(tail.size(), sizes.tail));
  sampler.read_piece(tail, size - tail.size());
  return sampler.finish(size);
}

std::optional<FileSurvey> sample(const std::string& path,
                                 const std::vector<std::string>& shared_flows, FileWatch& watch) {
  const std::optional<SeekableFile> file = SeekableFile::open(path, &watch);
  if (!file) return std::nullopt;
  const std::string head = file->read(0, kSniffBytes);
  if (is_gzip(head)) return sample_packed(path, file->size(), kGzipRatio, shared_flows, watch);
  if (is_zstd(head)) return sample_packed(path, file->size(), kZstdRatio, shared_flows, watch);
  return sample_plain(path, *file, shared_flows);
}

}  // namespace

std::optional<std::vector<FileSurvey>> guess_surveys(const std::vector<std::string>& paths,
                                                     unsigned threads,
                                                     const std::vector<std::string>& shared_flows,
                                                     FileWatch& watch) {
  std::vector<FileSurvey> surveys(paths.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (std::size_t i = next++; i < paths.size() && !failed; i = next++) {
      try {
        std::optional<FileSurvey> survey = sample(paths[i], shared_flows, watch);
        if (survey)
          surveys[i] = std::move(*survey);
        else
          failed = true;
      } catch (const std::exception&) {
        failed = true;  // the whole survey will report what is wrong, in a thread that may throw
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(thread_count(threads), paths.size()); ++i)
      helpers.emplace_back(work);
    work();
  }
  if (failed) return std::nullopt;
  return surveys;
}

bool writes_the_same(const MergePlan& guess, const MergePlan& plan) {
  if (!have_same_head(guess, plan) || !guess.tracks.covers(plan.tracks) ||
      guess.has_objects != plan.has_objects || guess.order != plan.order)
    return false;
  // The offset has to be the same, too: problems of the event are reported there.
  const auto is_same_metadata = [](const KeptMetadata& a, const KeptMetadata& b) {
    return a.text == b.text && a.offset == b.offset;
  };
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    const EventPlan& guessed = guess.files[i];
    // X events around a B matter only if nothing closes that B.
    if (plan.surveys[i].open_begins > 0 && !guess.tracks.knows_begins(plan.tracks, i)) return false;
    if (guessed != plan.files[i] ||
        !std::ranges::equal(guess.surveys[i].metadata, plan.surveys[i].metadata, is_same_metadata))
      return false;
  }
  return true;
}

}  // namespace traceloom
