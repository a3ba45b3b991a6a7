// Visitors around other visitors: one that shows only some files, and one that surveys and
// writes in one pass.
#pragma once

#include "merge/survey/survey_visitor.h"
#include "merge/write/write_visitor.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace traceloom {

// FileSubset: shows a visitor only some of its files, under the numbers that it knows.
//
//   FileSubset subset(writer, {0, 3});
//   scan_files({paths[0], paths[3]}, subset, {});    // writer is shown files 0 and 3

class FileSubset : public FileVisitor {
 public:
  // `visitor` must outlive this object.
  FileSubset(FileVisitor& visitor, std::vector<std::size_t> files)
      : visitor_(visitor), files_(std::move(files)) {}

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
  std::vector<std::size_t> files_;
};

// OnePassVisitor: surveys and writes in one pass over the inputs, by a plan that was guessed.
//
//   OnePassVisitor visitor(surveyor, writer);
//   scan_files(paths, visitor, {});

class OnePassVisitor : public FileVisitor {
 public:
  OnePassVisitor(SurveyVisitor& survey, WriteVisitor& write) : survey_(survey), write_(write) {}

  std::unique_ptr<ChunkResult> make_result() override {
    auto chunk = std::make_unique<Chunk>();
    chunk->survey = survey_.make_result();
    chunk->written = write_.make_result();
    return chunk;
  }
  void recycle(std::unique_ptr<ChunkResult> result) override {
    write_.recycle(std::move(static_cast<Chunk&>(*result).written));
  }
  void visit(ChunkResult& result, std::size_t file, const Event& event) override {
    Chunk& chunk = static_cast<Chunk&>(result);
    const EventTiming timing = write_.time(*chunk.written, event);
    survey_.add(*chunk.survey, event, timing);
    write_.write(*chunk.written, file, event, timing);
  }
  void finish_chunk(ChunkResult& result) override {
    write_.finish_chunk(*static_cast<Chunk&>(result).written);
  }
  void take(ChunkResult& result, std::size_t file) override {
    survey_.take(*static_cast<Chunk&>(result).survey, file);
    write_.take(*static_cast<Chunk&>(result).written, file);
  }
  void end_file(std::size_t file, const FileEnd& end) override {
    survey_.end_file(file, end);
    write_.end_file(file, end);
  }
  void fail_file(std::size_t file, const Error& error) override { survey_.fail_file(file, error); }

 private:
  struct Chunk : ChunkResult {
    std::unique_ptr<ChunkResult> survey;
    std::unique_ptr<ChunkResult> written;
  };
  SurveyVisitor& survey_;
  WriteVisitor& write_;
};

}  // namespace traceloom
