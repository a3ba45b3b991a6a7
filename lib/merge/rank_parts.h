// A merge plan, one rank at a time: for outputs that have a trace of each rank.
//
//   for (const RankPart& part : parts_of(plan, surveys)) {
//     select(plan, part);
//     WriteVisitor visitor(plan, output);                     // writes that rank only
//     PartVisitor part_visitor(visitor, part.files);
//     scan_files(paths_of(part.files), part_visitor, {});
//   }
//   select_all(plan, origin_ns);
#pragma once

#include "merge/file_survey.h"
#include "merge/plan.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace traceloom {

struct RankPart {
  std::int64_t rank = 0;
  std::vector<std::size_t> files;  // of the plan; a merged file has several ranks
  std::int64_t origin_ns = 0;      // common time of time 0 in its trace
};

// Ascending by rank. The first one begins at the origin of the plan; each other one at the first
// event of its files, so that its times are small and no origin lies before the plan's.
std::vector<RankPart> parts_of(const MergePlan& plan, const std::vector<FileSurvey>& surveys);

// Narrows a plan to that part: the origin is the part's, other ranks are left out.
void select(MergePlan& plan, const RankPart& part);
// Takes that back; `origin_ns` is what the plan's was.
void select_all(MergePlan& plan, std::int64_t origin_ns);

// Passes the files of a part on to a visitor that counts them as the whole plan does.
class PartVisitor : public FileVisitor {
 public:
  // Both must live as long.
  PartVisitor(FileVisitor& visitor, const std::vector<std::size_t>& files)
      : visitor_(visitor), files_(files) {}

  Args wanted_args() const override { return visitor_.wanted_args(); }
  std::unique_ptr<ChunkResult> make_result() override { return visitor_.make_result(); }
  void recycle(std::unique_ptr<ChunkResult> result) override {
    visitor_.recycle(std::move(result));
  }
  void visit(ChunkResult& result, std::size_t file, const Event& event) override {
    visitor_.visit(result, files_[file], event);
  }
  void finish_chunk(ChunkResult& result) override { visitor_.finish_chunk(result); }
  void take(ChunkResult& result, std::size_t file) override { visitor_.take(result, files_[file]); }
  void end_file(std::size_t file, const FileEnd& end) override {
    visitor_.end_file(files_[file], end);
  }
  void fail_file(std::size_t file, const Error& error) override {
    visitor_.fail_file(files_[file], error);
  }

 private:
  FileVisitor& visitor_;
  const std::vector<std::size_t>& files_;
};

}  // namespace traceloom
