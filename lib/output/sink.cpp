#include "output/sink.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "output/file_sink.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <new>
#include <unistd.h>
#include <vector>
#include <zstd.h>

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

namespace {

class ZlibDeflater : public Deflater {
 public:
  ZlibDeflater() = default;
  ~ZlibDeflater() override {
    if (level_ != kNoLevel) deflateEnd(&stream_);
  }
  ZlibDeflater(const ZlibDeflater&) = delete;
  ZlibDeflater& operator=(const ZlibDeflater&) = delete;

  void append_block(std::string_view text, int level, std::string& out) override {
    restart(level);
    // deflateBound() covers the whole stream; the flush adds an empty block and its alignment.
    constexpr std::size_t kFlushBytes = 16;
    const auto text_size = static_cast<uInt>(text.size());
    const std::size_t bound = deflateBound(&stream_, text_size) + kFlushBytes;
    if (buffer_.size() < bound) buffer_.resize(bound);
    // zlib's interface lacks const; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = text_size;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, Z_FULL_FLUSH);
      out.append(buffer_.data(), buffer_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  std::uint32_t crc32(std::uint32_t crc, std::string_view text) const override {
    return static_cast<std::uint32_t>(
        crc32_z(crc, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  }

 private:
  static constexpr int kNoLevel = 0;

  void restart(int level) {
    if (level == level_) {
      deflateReset(&stream_);
      return;
    }
    if (level_ != kNoLevel) deflateEnd(&stream_);
    level_ = kNoLevel;
    constexpr int kRawDeflate = -MAX_WBITS;
    constexpr int kDefaultMemory = 8;
    if (deflateInit2(&stream_, level, Z_DEFLATED, kRawDeflate, kDefaultMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
    level_ = level;
  }

  z_stream stream_ = {};
  int level_ = kNoLevel;
  std::vector<char> buffer_;
};

}  // namespace

std::unique_ptr<Deflater> make_zlib_deflater() {
  return std::make_unique<ZlibDeflater>();
}

namespace {

using namespace std::string_view_literals;

constexpr int kMaxIsalLevel = 3;
// What input/zstd_source.h unpacks at once.
constexpr std::size_t kMostFrameBytes = std::size_t{4} << 20;

class ZstdCompressor {
 public:
  ZstdCompressor() {
    if (context_ == nullptr) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  // Returns the text as frames that a reader can unpack at once.
  std::string compress(std::string_view text, int level) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    buffer_.resize(ZSTD_compressBound(kMostFrameBytes));
    std::string frames;
    do {
      const std::string_view piece = text.substr(0, kMostFrameBytes);
      const std::size_t size = ZSTD_compress2(context_.get(), buffer_.data(), buffer_.size(),
                                              piece.data(), piece.size());
      if (ZSTD_isError(size) != 0)
        throw std::logic_error(fmt::format("zstd: {}", ZSTD_getErrorName(size)));
      frames.append(buffer_.data(), size);
      text.remove_prefix(piece.size());
    } while (!text.empty());
    return frames;
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
  std::vector<char> buffer_;
};

// All need little memory until they are used.
struct Compressors {
  std::unique_ptr<Deflater> isal = make_isal_deflater();
  std::unique_ptr<Deflater> zlib = make_zlib_deflater();
  ZstdCompressor zstd;

  Deflater& for_level(int level) const {
    return isal != nullptr && level <= kMaxIsalLevel ? *isal : *zlib;
  }
};

}  // namespace

Packing packing_of_name(std::string_view path) {
  const std::string name = to_lower(path);
  if (name.ends_with(".gz") || name.ends_with(".tgz")) return Packing::gzip;
  return name.ends_with(".zst") ? Packing::zstd : Packing::none;
}

int level_or_default(int level, Packing packing) {
  return level > 0 ? level : packing == Packing::zstd ? 3 : 1;
}

CompressedBlock compress_block(std::string_view text, int level, Packing packing) {
  assert(level <= kMaxLevel);
  thread_local Compressors compressors;
  if (packing == Packing::zstd) return {compressors.zstd.compress(text, level), 0, text.size()};
  Deflater& deflater = compressors.for_level(level);
  CompressedBlock block{{}, deflater.crc32(0, text), text.size()};
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), kMaxDeflateBytes)))
    deflater.append_block(text.substr(0, kMaxDeflateBytes), level, block.packed);
  return block;
}

std::string_view packed_start(Packing packing) {
  // Deflate, no flags, no time, no hint, unknown system: the header is the same in every run.
  return packing == Packing::gzip ? "\x1f\x8b\x08\0\0\0\0\0\0\xff"sv : ""sv;
}

std::string packed_end(Packing packing, std::uint32_t crc32, std::uint64_t text_size) {
  // A file of zstd without text is one empty frame.
  if (packing != Packing::gzip) return text_size > 0 ? "" : compress_block("", 1, packing).packed;
  std::string end = "\x03";  // an empty last block, which ends the deflate data
  end += '\0';
  for (const std::uint64_t value : {std::uint64_t{crc32}, text_size})  // both modulo 2^32
    for (unsigned shift = 0; shift < 32; shift += 8) end += static_cast<char>(value >> shift);
  return end;
}

std::uint32_t joined_crc32(std::uint32_t crc32, const CompressedBlock& block) {
  return static_cast<std::uint32_t>(
      crc32_combine(crc32, block.crc32, static_cast<z_off_t>(block.text_size)));
}

PackedSink::PackedSink(std::unique_ptr<Sink> target, Packing packing, int level, Framing framing)
    : target_(std::move(target)),
      packing_(packing),
      level_(level_or_default(level, packing)),
      framing_(framing) {
  if (framing_ == Framing::whole) target_->write(packed_start(packing_));
}

void PackedSink::write(std::string_view bytes) {
  while (pending_.size() + bytes.size() >= kPackedBlockBytes) {
    const std::size_t missing = kPackedBlockBytes - pending_.size();
    pending_.append(bytes.substr(0, missing));
    bytes.remove_prefix(missing);
    flush_pending();
  }
  pending_.append(bytes);
}

void PackedSink::write_block(const CompressedBlock& block) {
  flush_pending();
  append(block);
}

void PackedSink::complete() {
  if (is_complete_) return;
  is_complete_ = true;
  flush_pending();
  if (framing_ == Framing::whole) target_->write(packed_end(packing_, crc32_, text_size_));
  target_->complete();
}

void PackedSink::close() {
  complete();
  target_->close();
}

void PackedSink::flush_pending() {
  if (pending_.empty()) return;
  append(compress(pending_));
  pending_.clear();
}

void PackedSink::append(const CompressedBlock& block) {
  target_->write(block.packed);
  count_elsewhere(block);
}

FileGap PackedSink::leave_gap(std::uint64_t bytes) {
  flush_pending();
  return target_->leave_gap(bytes);
}

void PackedSink::count_elsewhere(const CompressedBlock& counted) {
  crc32_ = joined_crc32(crc32_, counted);
  text_size_ += counted.text_size;
}

std::unique_ptr<Sink> pack_by_name(std::unique_ptr<Sink> sink, std::string_view path, int level,
                                   Framing framing) {
  const Packing packing = packing_of_name(path);
  if (packing == Packing::none) return sink;
  return std::make_unique<PackedSink>(std::move(sink), packing, level, framing);
}

}  // namespace traceloom
