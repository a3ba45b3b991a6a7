#include "digest/write/write_digest.h"

#include "digest/block.h"
#include "digest/frames.h"
#include "digest/records.h"
#include "input/digest_source.h"
#include "input/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <string_view>
#include <thread>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

// The name of the trace, with the folders between it and the argument that led to it; of several
// arguments, a folder keeps its own name, too.
fs::path place_of(const Input& input, const std::vector<std::string>& arguments) {
  const fs::path path(input.path);
  if (input.is_named || input.found_by.empty()) return path.filename();
  fs::path folder(arguments[input.found_by.front()]);
  std::error_code error;
  if (!fs::is_directory(folder, error)) return path.filename();
  if (!folder.has_filename()) folder = folder.parent_path();
  const fs::path place =
      path.lexically_relative(arguments.size() > 1 ? folder.parent_path() : folder);
  return place.empty() || *place.begin() == ".." ? path.filename() : place;
}

}  // namespace

std::string digest_name(const std::string& trace) {
  std::string_view name = trace;
  for (const std::string_view end : {".gz", ".json", ".log"})
    if (name.ends_with(end)) name.remove_suffix(end.size());
  return fmt::format("{}.digest", name);
}

std::vector<std::string> digest_targets(const std::vector<Input>& inputs,
                                        const std::vector<std::string>& arguments,
                                        const std::string& folder) {
  std::vector<std::string> targets;
  std::map<std::string, std::string> trace_of;
  for (const Input& input : inputs) {
    const fs::path place = place_of(input, arguments);
    std::string target =
        (fs::path(folder) / place.parent_path() / digest_name(place.filename().string())).string();
    if (const auto [known, is_new] = trace_of.try_emplace(target, input.path); !is_new)
      throw UsageError(
          fmt::format("{} and {} would have the same digest, {}; write them to two "
                      "folders",
                      known->second, input.path, target));
    targets.push_back(std::move(target));
  }
  return targets;
}

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
