#include "merge/merger.h"

#include "base/error.h"
#include "input/plain_source.h"
#include "merge/event_writer.h"
#include "merge/file_survey.h"
#include "merge/plan.h"
#include "output/file_sink.h"
#include "scan/scan_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <unordered_set>
#include <utility>

namespace traceloom {
namespace {

// The merged trace as bytes: plain, or gzip in blocks that were compressed in parallel.
class Output {
 public:
  Output(const std::string& path, int gzip_level) : sink_(open_file_sink(path)) {
    if (!path.ends_with(".gz")) return;
    auto gzip = std::make_unique<GzipSink>(std::move(sink_), gzip_level);
    gzip_ = gzip.get();
    sink_ = std::move(gzip);
  }
  bool is_gzip() const { return gzip_ != nullptr; }
  void write(std::string_view text) { sink_->write(text); }
  void write_block(const CompressedBlock& block) { gzip_->write_block(block); }
  void close() { sink_->close(); }

 private:
  std::unique_ptr<Sink> sink_;
  GzipSink* gzip_ = nullptr;
};

struct WriteChunk : ChunkResult {
  WriteState state;
  CompressedBlock block;
};

// The second pass: writes the events of all files, one file after the other.
class WriteVisitor : public FileVisitor {
 public:
  WriteVisitor(const MergePlan& plan, Output& output, int gzip_level)
      : output_(output),
        gzip_level_(gzip_level),
        problems_(plan.files.size()),
        events_(plan.files.size()),
        text_bytes_(plan.files.size()) {
    for (std::size_t file = 0; file < plan.files.size(); ++file) writers_.emplace_back(plan, file);
  }

  // Before all other events, so that a merge of a merge finds them where it puts them.
  void write_metadata(const std::vector<FileSurvey>& surveys) {
    std::unordered_set<std::string> written;
    for (std::size_t file = 0; file < surveys.size(); ++file) {
      WriteState state;
      for (const KeptMetadata& event : surveys[file].metadata) {
        state.out.clear();
        writers_[file].write_metadata(event, state);
        if (written.insert(state.out).second) output_.write(state.out);
      }
      problems_[file].add(state.problems);
    }
  }

  const std::vector<ProblemCounts>& problems() const { return problems_; }
  const std::vector<std::uint64_t>& events() const { return events_; }
  const std::vector<std::uint64_t>& text_bytes() const { return text_bytes_; }

  std::unique_ptr<ChunkResult> make_result() override {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<WriteChunk>();
    std::unique_ptr<ChunkResult> chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }
  void recycle(std::unique_ptr<ChunkResult> result) override {
    WriteState& state = static_cast<WriteChunk&>(*result).state;
    state.out.clear();
    state.problems = {};
    state.events = 0;
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(result));
  }

  void visit(ChunkResult& result, std::size_t file, const Event& event) override {
    writers_[file].write(event, static_cast<WriteChunk&>(result).state);
  }
  void finish_chunk(ChunkResult& result) override {
    WriteChunk& chunk = static_cast<WriteChunk&>(result);
    if (output_.is_gzip()) chunk.block = compress_block(chunk.state.out, gzip_level_);
  }
  void take(ChunkResult& result, std::size_t file) override {
    WriteChunk& chunk = static_cast<WriteChunk&>(result);
    if (output_.is_gzip())
      output_.write_block(chunk.block);
    else
      output_.write(chunk.state.out);
    problems_[file].add(chunk.state.problems);
    events_[file] += chunk.state.events;
  }
  void end_file(std::size_t file, const FileEnd& end) override {
    text_bytes_[file] = end.text_bytes;
  }

 private:
  Output& output_;
  int gzip_level_;
  std::vector<EventWriter> writers_;
  std::vector<ProblemCounts> problems_;
  std::vector<std::uint64_t> events_;
  std::vector<std::uint64_t> text_bytes_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ChunkResult>> free_;
};

void prepare_paths(const MergeOptions& options) {
  for (const Input& input : options.inputs) {
    const std::string path = input.path == "-" ? "/dev/stdin" : input.path;
    if (options.output != "-" && same_file(path, options.output))
      throw UsageError(
          fmt::format("the output {} is also an input; name another output", options.output));
    if (input.path == "-")
      make_stdin_rereadable();
    else if (std::error_code error; std::filesystem::exists(path, error) &&
                                    !std::filesystem::is_regular_file(path, error) &&
                                    !std::filesystem::is_directory(path, error))
      throw UsageError(fmt::format(
          "{} is no regular file, and a merge reads its inputs twice; pass one pipe as - (stdin)",
          path));
  }
}

// The inputs that can be read, with their surveys; the others are in left_out.
struct Surveyed {
  std::vector<Input> inputs;
  std::vector<FileSurvey> surveys;
  std::vector<LeftOut> left_out;
};

Surveyed survey_inputs(const MergeOptions& options, const ScanOptions& scan) {
  std::vector<std::string> paths;
  for (const Input& input : options.inputs) paths.push_back(input.path);
  std::set<std::size_t> failed;
  Surveyed result;
  std::vector<FileSurvey> surveys =
      survey_files(paths, scan, [&](std::size_t file, const Error& error) {
        if (!options.keep_going) throw error;
        failed.insert(file);
        result.left_out.push_back({paths[file], error.what()});
      });
  for (std::size_t file = 0; file < paths.size(); ++file) {
    if (failed.contains(file)) continue;
    result.inputs.push_back(options.inputs[file]);
    result.surveys.push_back(std::move(surveys[file]));
  }
  if (result.inputs.empty())
    throw UsageError(fmt::format("no input could be read; {}", result.left_out.front().error));
  return result;
}

MergeSummary summarize(const Surveyed& surveyed, const MergePlan& plan, const WriteVisitor& written,
                       const std::vector<ProblemCounts>& problems) {
  MergeSummary summary;
  summary.left_out = surveyed.left_out;
  summary.ranks = plan.tracks.ranks().size();
  summary.origin_ns = plan.origin_ns;
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    const FilePlan& file = plan.files[i];
    summary.files.push_back({file.path, file.rank.rank, file.rank.source, file.clock,
                             written.events()[i], problems[i]});
    summary.events += written.events()[i];
    summary.text_bytes += surveyed.surveys[i].text_bytes;
  }
  return summary;
}

}  // namespace

MergeSummary merge_traces(const MergeOptions& options) {
  prepare_paths(options);
  std::uint64_t first_pass_bytes = 0;
  ScanOptions scan{options.threads, [&](std::uint64_t bytes) {
                     first_pass_bytes = bytes;
                     if (options.progress) options.progress(bytes);
                   }};
  // Opened first: nobody wants to wait for the survey to hear that the folder does not exist.
  Output output(options.output, options.gzip_level);
  const Surveyed surveyed = survey_inputs(options, scan);
  const MergePlan plan = make_plan(surveyed.inputs, surveyed.surveys);

  output.write(head_of_trace(plan));
  WriteVisitor visitor(plan, output, options.gzip_level);
  visitor.write_metadata(surveyed.surveys);
  std::vector<std::string> paths;
  for (const Input& input : surveyed.inputs) paths.push_back(input.path);
  scan.progress = [&](std::uint64_t bytes) {
    if (options.progress) options.progress(first_pass_bytes + bytes);
  };
  scan_files(paths, visitor, scan);

  std::vector<ProblemCounts> problems;
  for (std::size_t i = 0; i < plan.files.size(); ++i) {
    problems.push_back(surveyed.surveys[i].problems);
    problems.back().add(visitor.problems()[i]);
    problems.back().add(plan.files[i].rank.problems);
    problems.back().add(plan.files[i].clock.problems);
  }
  for (std::size_t i = 0; i < plan.files.size(); ++i)
    if (visitor.text_bytes()[i] != surveyed.surveys[i].text_bytes)
      throw Error(plan.files[i].path, std::string(kChangedWhileRead));
  output.write(
      tail_of_trace(plan, surveyed.surveys, visitor.events(), problems, surveyed.left_out));
  output.close();
  return summarize(surveyed, plan, visitor, problems);
}

}  // namespace traceloom
