#include "output/sink.h"

#include "base/problems.h"
#include "output/file_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <unistd.h>

namespace traceloom {

std::uint64_t write_at(int descriptor, const std::string& name, std::uint64_t offset,
                       std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw system_error(name, written == 0 ? ENOSPC : errno);
    offset += static_cast<std::uint64_t>(written);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return offset;
}

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
    : name_("temporary file for " + (output == "-" ? "stdout" : output)),
      file_(open_unnamed_file(folder_for(output))) {
  if (file_ < 0) throw system_error(name_, errno);
}

std::unique_ptr<Sink> SpoolFile::open_sink() {
  return std::make_unique<Writer>(*this);
}

void SpoolFile::write(std::string_view bytes) {
  size_ = write_at(file_, name_, size_, bytes);
}

void SpoolFile::read(std::uint64_t offset, char* to, std::size_t size) const {
  while (size > 0) {
    const ssize_t got = pread(file_, to, size, static_cast<off_t>(offset));
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

namespace {

constexpr std::size_t kBlockBytes = 512;
constexpr std::array<char, 2 * kBlockBytes> kZeros{};

struct Field {
  std::size_t begin;
  std::size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kUser{108, 8};
constexpr Field kGroup{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr Field kType{156, 1};
constexpr Field kMagic{257, 8};

void put(std::string& header, const Field& field, std::string_view text) {
  assert(text.size() <= field.size);
  header.replace(field.begin, text.size(), text);
}

// Writes octal digits up to a NUL. A number that does not fit is written as bytes after a set bit.
void put_number(std::string& header, const Field& field, std::uint64_t number) {
  const std::size_t digits = field.size - 1;
  if (number >> (3 * digits) == 0)
    return put(header, field, fmt::format("{:0{}o}", number, digits));
  for (std::size_t i = field.size; i-- > 0; number >>= 8)
    header[field.begin + i] = static_cast<char>(number);
  header[field.begin] = static_cast<char>(0x80);
}

}  // namespace

std::string tar_header(std::string_view name, std::uint64_t size) {
  std::string header(kBlockBytes, '\0');
  put(header, kName, name);
  put_number(header, kMode, 0644);
  put_number(header, kUser, 0);
  put_number(header, kGroup, 0);
  put_number(header, kSize, size);
  put_number(header, kTime, 0);
  put(header, kType, "0");
  put(header, kMagic, {"ustar\00000", kMagic.size});
  // The checksum is computed over the header with spaces in its own place.
  put(header, kChecksum, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, kChecksum, {fmt::format("{:06o}", sum) + '\0'});
  return header;
}

std::string_view tar_padding(std::uint64_t size) {
  return {kZeros.data(), (kBlockBytes - size % kBlockBytes) % kBlockBytes};
}

std::string_view tar_end() {
  return {kZeros.data(), kZeros.size()};
}

}  // namespace traceloom
