#include "output/spool_file.h"

#include "base/error.h"
#include "base/unnamed_file.h"
#include "output/file_sink.h"
#include "output/write_at.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace traceloom {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

std::string folder_for(const std::string& output) {
  if (is_written_aside(output)) return folder_written_to(output).string();
  return temporary_folder();
}

}  // namespace

class SpoolFile::Writer : public Sink {
 public:
  explicit Writer(SpoolFile& file) : file_(file) {}
  void write(std::string_view bytes) override { file_.write(bytes); }
  void complete() override {}
  void close() override {}

 private:
  SpoolFile& file_;
};

SpoolFile::SpoolFile(const std::string& output)
    : name_("temporary file for " + (output == "-" ? "stdout" : output)) {
  descriptor_ = open_unnamed_file(folder_for(output));
  if (descriptor_ < 0) throw system_error(name_, errno);
}

SpoolFile::~SpoolFile() {
  close(descriptor_);
}

std::unique_ptr<Sink> SpoolFile::open_sink() {
  return std::make_unique<Writer>(*this);
}

void SpoolFile::write(std::string_view bytes) {
  size_ = write_at(descriptor_, name_, size_, bytes);
}

void SpoolFile::read(std::uint64_t offset, char* to, std::size_t size) const {
  while (size > 0) {
    const ssize_t got = pread(descriptor_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw system_error(name_, got < 0 ? errno : EIO);
    offset += static_cast<std::uint64_t>(got);
    to += got;
    size -= static_cast<std::size_t>(got);
  }
}

void SpoolFile::for_each_piece(const std::function<void(std::string_view)>& use) const {
  std::string piece(kPieceBytes, '\0');
  for (std::uint64_t at = 0; at < size_; at += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size_ - at, kPieceBytes)));
    read(at, piece.data(), piece.size());
    use(piece);
  }
}

void SpoolFile::clear() {
  if (ftruncate(descriptor_, 0) != 0) throw system_error(name_, errno);
  size_ = 0;
}

}  // namespace traceloom
