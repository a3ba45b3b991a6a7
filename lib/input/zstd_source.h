// ZstdSource: the text of zstd data that another ByteSource delivers.
//
//   ZstdSource source(std::make_unique<PlainSource>("rank3.json.zst"), "rank3.json.zst", 2);
//
// All frames are read as one text, however many there are; skippable frames and zeros between
// frames are left out. Damage ends the data and is counted as one of these problems:
// - zstd_cut: the file ends too early; all blocks that are whole were delivered
// - zstd_damaged: a frame is broken, or there is none at the start
// - zstd_checksum: a frame's checksum is wrong; its text was delivered, and reading goes on
// - zstd_trailing_garbage: a frame is followed by something other than zeros or another frame
#pragma once

#include "input/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zstd.h>

namespace traceloom {

// True for the start of a frame; pzstd begins with a skippable one.
bool is_zstd(std::string_view head);

// A frame up to this size whose header says its size is unpacked whole, and ahead of the reader.
inline constexpr std::size_t kMostZstdFrameBytes = std::size_t{4} << 20;
// The same in the file. Larger frames, and those of unknown size, are unpacked block by block.
inline constexpr std::size_t kZstdBufferBytes = std::size_t{1} << 20;

class ZstdSource : public UnpackedSource {
 public:
  // Up to `threads` frames are unpacked at once; with 1, in the thread that reads. `known` holds
  // problems that are known before the first byte is read.
  ZstdSource(std::unique_ptr<ByteSource> packed, std::string name, unsigned threads,
             const ProblemCounts& known = {}, std::size_t buffer_bytes = kZstdBufferBytes);

  // Throws Error with `name` also for a frame that needs more than 128 MiB of memory to be unpacked
  // (a window of zstd --long=28 and more), or a dictionary.
  std::size_t read(std::span<char> buffer) override;

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  // A frame of the queue. `text` is absent if the frame has to be unpacked block by block.
  struct Frame {
    std::string packed;
    std::future<std::optional<std::string>> text;
  };
  std::span<const char> at_hand() const {
    return std::span(buffer_).subspan(position_, filled_ - position_);
  }
  // Returns false if there are no more, or no room for them.
  bool read_more();
  void skip_zeros();
  // Fills the queue with the frames that are whole in the buffer.
  void look_ahead();
  // Returns the size of the next frame if it can be unpacked at once.
  std::optional<std::size_t> whole_frame();
  void begin_next();
  void begin_blocks(std::string frame);
  std::size_t unpack_blocks(std::span<char> output);
  void consume(std::size_t bytes);
  void end_blocks();
  // The decoder has failed with at most `fed` bytes of the frame more.
  void fail(std::size_t error, std::size_t fed);
  void end(std::optional<Problem> reason);

  std::string name_;
  unsigned threads_;

  std::vector<char> buffer_;
  std::size_t position_ = 0;
  std::size_t filled_ = 0;
  bool is_at_end_ = false;  // of the packed bytes

  std::deque<Frame> frames_;
  std::string text_;  // of the last frame that was unpacked whole
  std::size_t text_position_ = 0;

  std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
  bool in_blocks_ = false;   // a frame is being unpacked block by block,
  std::string frame_bytes_;  // this one, or if it is empty, the one in the buffer
  std::size_t frame_position_ = 0;
  std::size_t wanted_ = 0;  // bytes that the decoder asks for
  bool may_hold_ = false;   // the decoder may hold text that did not fit
  bool any_frame_ = false;  // one has begun
  bool has_ended_ = false;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace traceloom
