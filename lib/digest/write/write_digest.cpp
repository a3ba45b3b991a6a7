#include "digest/write/write_digest.h"

#include "base/error.h"
#include "digest/block.h"
#include "digest/frames.h"
#include "digest/records.h"
#include "digest/text_hash.h"
#include "input/digest_source.h"
#include "input/open.h"

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <thread>

namespace traceloom {
namespace {

// Gives the text in pieces that are cut between events.
class Pieces {
 public:
  explicit Pieces(ByteSource& source) : source_(source) {}

  // Returns an empty text at the end.
  std::string next() {
    std::string piece = std::move(rest_);
    const std::size_t held = piece.size();
    piece.resize(digest::kMostBlockBytes);
    piece.resize(held + source_.read(std::span(piece).subspan(held)));
    rest_.clear();
    if (piece.size() == digest::kMostBlockBytes) {
      const std::size_t end = digest::end_of_records(piece);
      rest_ = piece.substr(end);
      piece.resize(end);
    }
    return piece;
  }

 private:
  ByteSource& source_;
  std::string rest_;
};

}  // namespace

WrittenDigest write_digest(const std::string& path, Sink& sink, unsigned threads) {
  if (is_digest_file(path)) throw Error(path, "is a digest already; copy it");
  FileWatch watch;
  const std::unique_ptr<ByteSource> source = open_input(path, &watch);
  WrittenDigest written;
  const auto write = [&](std::string_view bytes) {
    sink.write(bytes);
    written.digest_bytes += bytes.size();
  };
  write(digest::digest_start(
      {.name = path == "-" ? "" : path, .stored_bytes = source->stored_size().value_or(0)}));
  const std::size_t at_once =
      threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
  Pieces pieces(*source);
  digest::TextHash hash;
  std::deque<std::future<std::string>> packed;
  const auto write_first = [&] {
    const std::string block = packed.front().get();
    packed.pop_front();
    write(digest::frame(digest::FrameKind::block, block));
  };
  for (std::string piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    written.text_bytes += piece.size();
    hash.add(piece);
    const auto policy = at_once > 1 ? std::launch::async : std::launch::deferred;
    packed.push_back(
        std::async(policy, [text = std::move(piece)] { return digest::encode_block(text); }));
    if (packed.size() >= at_once) write_first();
  }
  while (!packed.empty()) write_first();
  source->check_unchanged();
  written.problems = source->problems();
  write(digest::frame(digest::FrameKind::end,
                      digest::end_payload({written.text_bytes, hash.value(), written.problems})));
  return written;
}

}  // namespace traceloom
