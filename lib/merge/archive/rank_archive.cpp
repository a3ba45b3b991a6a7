#include "merge/archive/rank_archive.h"

#include "output/tar.h"

#include <utility>

namespace traceloom {

RankArchive::RankArchive(const std::string& path, int gzip_level, StdoutUse stdout_use)
    : archive_(open_file_sink(path, stdout_use)),
      path_(path),
      gzip_level_(gzip_level),
      spool_(path) {
  if (!is_gzip_name(path)) return;
  auto gzip = std::make_unique<GzipSink>(std::move(archive_), gzip_level);
  gzip_ = gzip.get();
  archive_ = std::move(gzip);
}

void RankArchive::add(std::string_view name, std::string_view text) {
  archive_->write(tar_header(name, text.size()));
  archive_->write(text);
  archive_->write(tar_padding(text.size()));
}

void RankArchive::add(std::string_view name, const std::function<void(MergeOutput&)>& write) {
  spool_.clear();
  if (gzip_ == nullptr) {
    MergeOutput member(spool_.open_sink(), path_);
    write(member);
    member.close();
    archive_->write(tar_header(name, spool_.size()));
    spool_.for_each_piece([this](std::string_view piece) { archive_->write(piece); });
    archive_->write(tar_padding(spool_.size()));
    return;
  }
  GzipSink blocks(spool_.open_sink(), gzip_level_, GzipFrame::none);
  MergeOutput member(blocks, gzip_level_, path_);
  write(member);
  member.close();
  archive_->write(tar_header(name, blocks.text_size()));
  copy_blocks(blocks);
  archive_->write(tar_padding(blocks.text_size()));
}

void RankArchive::complete() {
  if (is_complete_) return;
  is_complete_ = true;
  archive_->write(tar_end());
  archive_->complete();
}

void RankArchive::close() {
  complete();
  archive_->close();
}

// Copies blocks that are compressed already. The checksum and size of their text follow once, after
// them.
void RankArchive::copy_blocks(const GzipSink& written) {
  spool_.for_each_piece([this](std::string_view piece) {
    gzip_->write_block({std::string(piece), 0, 0});
  });
  gzip_->write_block({{}, written.crc32(), written.text_size()});
}

}  // namespace traceloom
