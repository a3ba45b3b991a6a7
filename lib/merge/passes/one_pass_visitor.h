// OnePassVisitor: surveys and writes in one pass over the inputs, by a plan that was guessed.
//
//   OnePassVisitor visitor(surveyor, writer);
//   scan_files(paths, visitor, {});
#pragma once

#include "merge/survey/survey_visitor.h"
#include "merge/write/write_visitor.h"
#include "scan/scan_files.h"

#include <cstddef>
#include <memory>

namespace traceloom {

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
