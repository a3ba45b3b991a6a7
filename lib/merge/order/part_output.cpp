#include "merge/order/part_output.h"

#include "base/error.h"
#include "output/write_at.h"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace traceloom {
namespace {

// A file that another process has made.
class OthersFile {
 public:
  OthersFile(std::string name, const std::string& path)
      : name_(std::move(name)), descriptor_(open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC)) {
    if (descriptor_ < 0 && errno == ENOENT)
      throw Error(name_,
                  "a process of the team does not see its folder; with --mpi all processes "
                  "need the same file system");
    if (descriptor_ < 0) throw system_error(name_, errno);
  }
  ~OthersFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OthersFile(const OthersFile&) = delete;
  OthersFile& operator=(const OthersFile&) = delete;

  // Returns the offset behind the bytes.
  std::uint64_t write(std::uint64_t offset, std::string_view bytes) {
    return write_at(descriptor_, name_, offset, bytes);
  }
  // Some file systems report only here that there was no room.
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
      throw system_error(name_, errno);
  }

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace

PartOutput::PartOutput(const std::string& path, int gzip_level) : path_(path), spool_(path) {
  if (is_gzip_name(path)) {
    gzip_.emplace(spool_.open_sink(), gzip_level, GzipFrame::none);
    output_.emplace(*gzip_, gzip_level, path);
  } else {
    output_.emplace(spool_.open_sink(), path);
  }
}

PartSize PartOutput::complete() {
  output_->complete();
  if (!gzip_) return {spool_.size(), 0, 0};
  return {spool_.size(), gzip_->crc32(), gzip_->text_size()};
}

void PartOutput::copy_to(const FileGap& gap) const {
  if (spool_.size() == 0) return;
  OthersFile file(path_, gap.path);
  std::uint64_t offset = gap.begin;
  spool_.for_each_piece([&](std::string_view piece) { offset = file.write(offset, piece); });
  file.close();
}

std::vector<FileGap> leave_gaps(MergeOutput& output, const std::vector<PartSize>& parts) {
  std::vector<FileGap> gaps;
  for (const PartSize& part : parts) {
    FileGap& gap = gaps.emplace_back();
    if (part.bytes == 0) continue;
    gap = output.leave_gap(part.bytes);
    output.count_elsewhere(part.crc32, part.text_size);
  }
  return gaps;
}

}  // namespace traceloom
