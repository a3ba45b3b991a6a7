#include "input/gzip_source.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace traceloom {
namespace {

class ZlibInflater : public Inflater {
 public:
  ZlibInflater() {
    constexpr int kRawDeflate = -MAX_WBITS;
    if (inflateInit2(&stream_, kRawDeflate) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibInflater() override { inflateEnd(&stream_); }
  ZlibInflater(const ZlibInflater&) = delete;
  ZlibInflater& operator=(const ZlibInflater&) = delete;

  void start() override {
    inflateReset(&stream_);
    crc_ = 0;
  }

  Step inflate(std::span<const char> input, std::span<char> output) override {
    const uInt input_size = static_cast<uInt>(std::min(input.size(), kMaxSpanBytes));
    const uInt output_size = static_cast<uInt>(std::min(output.size(), kMaxSpanBytes));
    // zlib's interface lacks const; it does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = input_size;
    Bytef* const text = reinterpret_cast<Bytef*>(output.data());
    stream_.next_out = text;
    stream_.avail_out = output_size;

    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    const uInt produced = output_size - stream_.avail_out;
    crc_ = static_cast<std::uint32_t>(::crc32(crc_, text, produced));
    // Z_BUF_ERROR only means that this call could do nothing.
    const Status status = result == Z_STREAM_END                    ? Status::finished
                          : result == Z_OK || result == Z_BUF_ERROR ? Status::going_on
                                                                    : Status::damaged;
    return {static_cast<std::ptrdiff_t>(input_size - stream_.avail_in), produced, status};
  }

  std::uint32_t crc32() const override { return crc_; }

 private:
  z_stream stream_ = {};
  std::uint32_t crc_ = 0;
};

}  // namespace

std::unique_ptr<Inflater> make_zlib_inflater() {
  return std::make_unique<ZlibInflater>();
}

std::unique_ptr<Inflater> make_inflater() {
  std::unique_ptr<Inflater> isal = make_isal_inflater();
  return isal != nullptr ? std::move(isal) : make_zlib_inflater();
}

namespace {

// The numbers of RFC 1952, 2.3.1.
constexpr std::uint8_t kMagic1 = 0x1f;
constexpr std::uint8_t kMagic2 = 0x8b;
constexpr std::uint8_t kDeflate = 8;
constexpr unsigned kHasHeaderCrc = 1U << 1;
constexpr unsigned kHasExtra = 1U << 2;
constexpr unsigned kHasName = 1U << 3;
constexpr unsigned kHasComment = 1U << 4;
constexpr unsigned kReservedFlags = 0xe0;
constexpr std::size_t kTimeFlagsAndSystemBytes = 6;
constexpr std::size_t kTrailerBytes = 8;

std::uint32_t little_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
         std::uint32_t{bytes[3]} << 24;
}

}  // namespace

GzipSource::GzipSource(std::unique_ptr<ByteSource> compressed, std::unique_ptr<Inflater> inflater,
                       const ProblemCounts& known, std::size_t buffer_bytes)
    : UnpackedSource(std::move(compressed), known),
      inflater_(std::move(inflater)),
      buffer_(kInflaterLookback + buffer_bytes) {}

std::size_t GzipSource::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size() && state_ != State::ended) {
    if (state_ == State::between_members)
      start_member();
    else
      filled += inflate(buffer.subspan(filled));
  }
  return filled;
}

std::span<const char> GzipSource::at_hand() {
  if (position_ == filled_) {
    std::memmove(buffer_.data(), buffer_.data() + filled_ - kInflaterLookback, kInflaterLookback);
    position_ = kInflaterLookback;
    filled_ = kInflaterLookback + packed().read(std::span(buffer_).subspan(kInflaterLookback));
  }
  return std::span(buffer_).subspan(position_, filled_ - position_);
}

std::optional<std::uint8_t> GzipSource::next_byte() {
  if (at_hand().empty()) return std::nullopt;
  return static_cast<std::uint8_t>(buffer_[position_++]);
}

void GzipSource::start_member() {
  if (!first_member_) {
    // Tapes and preallocated files are padded with zeros; such padding is no damage.
    while (!at_hand().empty() && buffer_[position_] == 0) ++position_;
    if (at_hand().empty()) return end(std::nullopt);
  }
  if (const std::optional<Problem> problem = read_header()) return end(*problem);
  inflater_->start();
  first_member_ = false;
  member_start_ = text_bytes_;
  state_ = State::in_member;
}

std::optional<Problem> GzipSource::read_header() {
  const Problem no_header = first_member_ ? Problem::gzip_damaged : Problem::gzip_trailing_garbage;
  for (const std::uint8_t expected : {kMagic1, kMagic2, kDeflate}) {
    const std::optional<std::uint8_t> byte = next_byte();
    if (!byte) return Problem::gzip_cut;
    if (*byte != expected) return no_header;
  }
  const std::optional<std::uint8_t> flags = next_byte();
  if (!flags) return Problem::gzip_cut;
  if ((*flags & kReservedFlags) != 0) return no_header;
  if (!skip(kTimeFlagsAndSystemBytes)) return Problem::gzip_cut;
  return skip_optional_fields(*flags);
}

std::optional<Problem> GzipSource::skip_optional_fields(unsigned flags) {
  if ((flags & kHasExtra) != 0) {
    const std::optional<std::uint8_t> low = next_byte();
    const std::optional<std::uint8_t> high = next_byte();
    if (!high || !skip(std::size_t{*low} | std::size_t{*high} << 8)) return Problem::gzip_cut;
  }
  if ((flags & kHasName) != 0 && !skip_text()) return Problem::gzip_cut;
  if ((flags & kHasComment) != 0 && !skip_text()) return Problem::gzip_cut;
  if ((flags & kHasHeaderCrc) != 0 && !skip(2)) return Problem::gzip_cut;
  return std::nullopt;
}

bool GzipSource::skip(std::size_t count) {
  for (; count > 0; --count)
    if (!next_byte()) return false;
  return true;
}

bool GzipSource::skip_text() {
  for (;;) {
    const std::optional<std::uint8_t> byte = next_byte();
    if (!byte) return false;
    if (*byte == 0) return true;
  }
}

std::size_t GzipSource::inflate(std::span<char> output) {
  const Inflater::Step step = inflater_->inflate(at_hand(), output);
  position_ += static_cast<std::size_t>(step.consumed);  // wraps around if `consumed` is negative
  text_bytes_ += step.produced;
  if (step.status == Inflater::Status::finished)
    finish_member();
  else if (step.status == Inflater::Status::damaged)
    end(Problem::gzip_damaged);
  else if (step.consumed == 0 && step.produced == 0)
    end(Problem::gzip_cut);
  return step.produced;
}

void GzipSource::finish_member() {
  std::array<std::uint8_t, kTrailerBytes> trailer;
  for (std::uint8_t& byte : trailer) {
    const std::optional<std::uint8_t> next = next_byte();
    if (!next) return end(Problem::gzip_cut);
    byte = *next;
  }
  const auto size = static_cast<std::uint32_t>(text_bytes_ - member_start_);  // modulo 2^32
  if (little_endian(trailer.data()) != inflater_->crc32() ||
      little_endian(trailer.data() + 4) != size)
    add_problem(Problem::gzip_checksum, text_bytes_);
  state_ = State::between_members;
}

void GzipSource::end(std::optional<Problem> reason) {
  state_ = State::ended;
  add_end(reason, text_bytes_);
}

}  // namespace traceloom
