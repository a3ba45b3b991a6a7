#include "input/zstd_source.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <zstd_errors.h>

namespace traceloom {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd"sv;
constexpr std::string_view kSkippableMagic = "\x2a\x4d\x18"sv;  // after a byte from 0x50 to 0x5f
constexpr int kMaxWindowLog = 27;                               // 128 MiB
constexpr std::size_t kFrameStartBytes = 5;                     // what the decoder asks for first
constexpr std::size_t kBlockHeaderBytes = 3;
constexpr std::size_t kWorthAThread = 4096;  // packed bytes: some 50 us, a thread costs 10

// Without a `context` it makes one.
std::optional<std::string> unpack_frame(ZSTD_DCtx* context, std::string_view frame) {
  std::string text(ZSTD_getFrameContentSize(frame.data(), frame.size()), '\0');
  const std::size_t size =
      context == nullptr
          ? ZSTD_decompress(text.data(), text.size(), frame.data(), frame.size())
          : ZSTD_decompressDCtx(context, text.data(), text.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0) return std::nullopt;
  text.resize(size);
  return text;
}

}  // namespace

bool is_zstd(std::string_view head) {
  return head.starts_with(kMagic) ||
         (head.substr(std::min<std::size_t>(1, head.size())).starts_with(kSkippableMagic) &&
          (head.front() & 0xf0) == 0x50);
}

ZstdSource::ZstdSource(std::unique_ptr<ByteSource> packed, std::string name, unsigned threads,
                       const ProblemCounts& known, std::size_t buffer_bytes)
    : UnpackedSource(std::move(packed), known),
      name_(std::move(name)),
      threads_(std::max(threads, 1U)),
      buffer_(buffer_bytes) {
  if (context_ == nullptr) throw std::bad_alloc();
  ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
}

std::size_t ZstdSource::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size() && !has_ended_) {
    const std::span<char> room = buffer.subspan(filled);
    std::size_t produced = 0;
    if (text_position_ < text_.size()) {
      produced = text_.copy(room.data(), room.size(), text_position_);
      text_position_ += produced;
    } else if (in_blocks_) {
      produced = unpack_blocks(room);
    } else {
      begin_next();
    }
    text_bytes_ += produced;
    filled += produced;
  }
  return filled;
}

bool ZstdSource::read_more() {
  const std::size_t left = filled_ - position_;
  if (is_at_end_ || left == buffer_.size()) return false;
  std::memmove(buffer_.data(), buffer_.data() + position_, left);
  position_ = 0;
  const std::size_t got = packed().read(std::span(buffer_).subspan(left));
  filled_ = left + got;
  is_at_end_ = got == 0;
  return got > 0;
}

// Tapes and preallocated files are padded with zeros; such padding is no damage.
void ZstdSource::skip_zeros() {
  while ((position_ < filled_ || read_more()) && buffer_[position_] == 0) ++position_;
}

void ZstdSource::look_ahead() {
  while (frames_.size() < threads_) {
    if (any_frame_) skip_zeros();
    const std::optional<std::size_t> size = whole_frame();
    if (!size) return;
    any_frame_ = true;
    Frame& frame = frames_.emplace_back();
    frame.packed.assign(at_hand().data(), *size);
    position_ += *size;
    // Where no thread can be started, the library unpacks in the thread that reads.
    const bool has_thread = threads_ > 1 && *size >= kWorthAThread;
    frame.text =
        std::async(has_thread ? std::launch::async | std::launch::deferred : std::launch::deferred,
                   [&packed = frame.packed, context = has_thread ? nullptr : context_.get()] {
                     return unpack_frame(context, packed);
                   });
  }
}

std::optional<std::size_t> ZstdSource::whole_frame() {
  for (;;) {
    const std::span<const char> bytes = at_hand();
    // The library also finds frames of its first versions, which the decoder of pieces does not.
    if (bytes.size() >= kMagic.size() && !is_zstd({bytes.data(), bytes.size()}))
      return std::nullopt;
    const std::size_t size = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
    if (ZSTD_isError(size) == 0) {
      // An unknown size is a large number.
      const bool is_small =
          ZSTD_getFrameContentSize(bytes.data(), bytes.size()) <= kMostZstdFrameBytes;
      return is_small ? std::optional(size) : std::nullopt;
    }
    if (ZSTD_getErrorCode(size) != ZSTD_error_srcSize_wrong || !read_more()) return std::nullopt;
  }
}

void ZstdSource::begin_next() {
  look_ahead();
  if (!frames_.empty()) {
    std::optional<std::string> text = frames_.front().text.get();
    if (text) {
      text_ = std::move(*text);
      text_position_ = 0;
    } else {
      begin_blocks(std::move(frames_.front().packed));
    }
    frames_.pop_front();
    return;
  }
  const std::string_view rest(at_hand().data(), at_hand().size());
  if (rest.empty() && any_frame_) return end(std::nullopt);
  if (rest.size() < kMagic.size() && kMagic.starts_with(rest)) return end(Problem::zstd_cut);
  if (!is_zstd(rest))
    return end(any_frame_ ? Problem::zstd_trailing_garbage : Problem::zstd_damaged);
  begin_blocks({});
}

void ZstdSource::begin_blocks(std::string frame) {
  ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only);
  in_blocks_ = any_frame_ = true;
  frame_bytes_ = std::move(frame);
  frame_position_ = 0;
  wanted_ = kFrameStartBytes;
  may_hold_ = false;
}

// The decoder does not tell what it has written in a call that fails. So no call writes text and
// then goes on to what may fail: one that may write text held back gets no more bytes, and none
// gets the header of the next block together with a block.
std::size_t ZstdSource::unpack_blocks(std::span<char> output) {
  if (frame_bytes_.empty() && at_hand().empty() && !may_hold_) read_more();
  const std::span<const char> bytes =
      frame_bytes_.empty() ? at_hand() : std::span(frame_bytes_).subspan(frame_position_);
  const std::size_t taken = wanted_ > kBlockHeaderBytes ? wanted_ - kBlockHeaderBytes : wanted_;
  ZSTD_inBuffer input{bytes.data(), may_hold_ ? 0 : std::min(taken, bytes.size()), 0};
  ZSTD_outBuffer text{output.data(), output.size(), 0};
  const bool is_cut = !may_hold_ && bytes.empty();
  const std::size_t result = ZSTD_decompressStream(context_.get(), &text, &input);
  if (ZSTD_isError(result) != 0) {
    fail(result, input.size);
    return 0;
  }
  consume(input.pos);
  wanted_ = result;
  may_hold_ = text.pos == text.size;
  if (result == 0)
    end_blocks();
  else if (is_cut)
    end(Problem::zstd_cut);
  return text.pos;
}

void ZstdSource::consume(std::size_t bytes) {
  (frame_bytes_.empty() ? position_ : frame_position_) += bytes;
}

void ZstdSource::end_blocks() {
  in_blocks_ = false;
  frame_bytes_.clear();
}

void ZstdSource::fail(std::size_t error, std::size_t fed) {
  switch (ZSTD_getErrorCode(error)) {
    case ZSTD_error_memory_allocation:
      throw std::bad_alloc();
    case ZSTD_error_frameParameter_windowTooLarge:
      throw Error(name_,
                  "needs more than 128 MiB of memory to be unpacked; pack it again with a smaller "
                  "window (zstd -dc --long=31 FILE | zstd), or copy it again");
    case ZSTD_error_dictionary_wrong:
      throw Error(name_, "is packed with a dictionary; unpack it first (zstd -d -D DICTIONARY)");
    case ZSTD_error_checksum_wrong:
      // The frame ends with its checksum, so all of it was taken.
      add_problem(Problem::zstd_checksum, text_bytes_);
      consume(fed);
      return end_blocks();
    default:
      return end(Problem::zstd_damaged);
  }
}

void ZstdSource::end(std::optional<Problem> reason) {
  has_ended_ = true;
  frames_.clear();
  add_end(reason, text_bytes_);
}

}  // namespace traceloom
