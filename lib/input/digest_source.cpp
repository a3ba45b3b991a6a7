#include "input/digest_source.h"

#include "base/problems.h"
#include "digest/block.h"
#include "input/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace traceloom {

bool is_digest(std::string_view head) {
  return head.starts_with(digest::kMagic);
}

bool is_digest_file(const std::string& path) {
  const std::optional<SeekableFile> file = SeekableFile::open(path);
  return file && is_digest(file->read(0, digest::kMagic.size()));
}

std::optional<std::string> name_in_digest(const std::string& path) {
  constexpr std::size_t kMostHeadBytes = std::size_t{64} << 10;
  const std::optional<SeekableFile> file = SeekableFile::open(path);
  if (!file || !is_digest(file->read(0, digest::kMagic.size()))) return std::nullopt;
  const std::optional<digest::FrameHeader> header =
      digest::read_frame_header(file->read(digest::kStartBytes, digest::kFrameHeaderBytes));
  if (!header || header->size > kMostHeadBytes) return std::nullopt;
  const std::string payload =
      file->read(digest::kStartBytes + digest::kFrameHeaderBytes, header->size);
  if (!is_intact(*header, payload)) return std::nullopt;
  const std::optional<digest::Head> head = digest::read_head(payload);
  return head && !head->name.empty() ? std::optional(head->name) : std::nullopt;
}

DigestSource::DigestSource(std::unique_ptr<ByteSource> digest, std::string name, unsigned threads)
    : digest_(std::move(digest)), name_(std::move(name)), threads_(std::max(threads, 1U)) {
  read_start();
}

std::size_t DigestSource::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    if (position_ == text_.size() && !next_text()) break;
    const std::size_t size = text_.copy(buffer.data() + filled, buffer.size() - filled, position_);
    position_ += size;
    filled += size;
  }
  return filled;
}

void DigestSource::refuse(std::uint64_t offset, const std::string& problem) const {
  throw Error(name_, offset, problem);
}

std::string DigestSource::take(std::size_t size) {
  std::string bytes(size, '\0');
  bytes.resize(digest_->read(bytes));
  offset_ += bytes.size();
  if (bytes.size() < size) refuse(offset_, "the digest is cut here; write it again");
  return bytes;
}

std::string DigestSource::next_frame(digest::FrameHeader& header) {
  frame_offset_ = offset_;
  const std::optional<digest::FrameHeader> found =
      digest::read_frame_header(take(digest::kFrameHeaderBytes));
  if (!found) refuse(frame_offset_, "the digest is damaged here; write it again");
  header = *found;
  std::string payload = take(header.size);
  if (!is_intact(header, payload))
    refuse(frame_offset_, "the digest is damaged in the part that begins here; write it again");
  return payload;
}

void DigestSource::read_start() {
  const std::string start = take(digest::kStartBytes);
  const auto version = static_cast<std::uint8_t>(start.back());
  if (version != digest::kVersion)
    refuse(digest::kMagic.size(),
           fmt::format("the digest has version {} and this program reads version {}; write it "
                       "again from the trace",
                       version, digest::kVersion));
  digest::FrameHeader header;
  const std::string payload = next_frame(header);
  if (header.kind != digest::FrameKind::head || !digest::read_head(payload))
    refuse(frame_offset_, "the digest is damaged here; write it again");
}

void DigestSource::fetch_blocks() {
  while (!end_ && blocks_.size() < threads_) {
    digest::FrameHeader header;
    std::string payload = next_frame(header);
    if (header.kind == digest::FrameKind::end) end_ = digest::read_end(payload);
    if (header.kind == digest::FrameKind::head || (header.kind == digest::FrameKind::end && !end_))
      refuse(frame_offset_, "the digest is damaged here; write it again");
    if (end_) return;
    const auto policy = threads_ > 1 ? std::launch::async : std::launch::deferred;
    blocks_.push_back({frame_offset_, std::async(policy, [packed = std::move(payload)] {
                         return digest::decode_block(packed);
                       })});
  }
}

bool DigestSource::next_text() {
  text_.clear();
  position_ = 0;
  if (is_done_) return false;
  fetch_blocks();
  if (blocks_.empty()) {
    check_end();
    is_done_ = true;
    return false;
  }
  Block block = std::move(blocks_.front());
  blocks_.pop_front();
  std::optional<std::string> text = block.text.get();
  if (!text || text->empty())
    refuse(block.offset, "the digest is damaged in the part that begins here; write it again");
  text_ = std::move(*text);
  text_bytes_ += text_.size();
  hash_.add(text_);
  return true;
}

void DigestSource::check_end() {
  if (text_bytes_ != end_->text_bytes || hash_.value() != end_->text_checksum)
    refuse(frame_offset_, "the digest holds another text than was written; write it again");
  const std::uint64_t after = offset_;
  std::string rest(1, '\0');
  if (digest_->read(rest) > 0)
    refuse(after, "more follows after the end of the digest; write it again");
  problems_.add(end_->problems);
}

}  // namespace traceloom
