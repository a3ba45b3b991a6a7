#include "input/open.h"

#include "base/error.h"
#include "input/digest_source.h"
#include "input/gzip_source.h"
#include "input/inflater.h"
#include "input/plain_source.h"
#include "input/sniff.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace traceloom {
namespace {

constexpr int kMaxGzipLayers = 2;

// Delivers the bytes again that were read to recognise the format, then the rest of the source.
class ReplaySource : public ByteSource {
 public:
  ReplaySource(std::string head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}

  std::size_t read(std::span<char> buffer) override {
    const std::size_t from_head = head_.copy(buffer.data(), buffer.size(), position_);
    position_ += from_head;
    if (from_head == buffer.size()) return from_head;
    return from_head + rest_->read(buffer.subspan(from_head));
  }
  void check_unchanged() const override { rest_->check_unchanged(); }
  const ProblemCounts& problems() const override { return rest_->problems(); }
  std::uint64_t stored_bytes_read() const override { return rest_->stored_bytes_read(); }
  std::optional<std::uint64_t> stored_size() const override { return rest_->stored_size(); }

 private:
  std::string head_;
  std::size_t position_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

std::string read_head(ByteSource& source) {
  std::string head(kSniffBytes, '\0');
  head.resize(source.read(head));
  return head;
}

std::string why_empty(const ByteSource& source, int gzip_layers) {
  if (gzip_layers == 0) return "the file is empty";
  if (source.problems().count(Problem::gzip_cut) != 0)
    return "the gzip data is cut off before its first byte of text; copy or record the file again";
  if (source.problems().count(Problem::gzip_damaged) != 0)
    return "the gzip data is damaged at its start; copy or record the file again";
  return "the file is empty (gzip of nothing)";
}

// Wraps `source` in one more layer of gzip; `gzip_layers` layers were removed before.
std::unique_ptr<ByteSource> unpack(std::unique_ptr<ByteSource> source, int gzip_layers) {
  ProblemCounts known;
  if (gzip_layers > 0) known.add(Problem::gzip_twice, 0);
  return std::make_unique<GzipSource>(std::move(source), make_inflater(), known);
}

}  // namespace

std::unique_ptr<ByteSource> open_input(const std::string& path, FileWatch* watch,
                                       unsigned threads) {
  const std::string name = input_name(path);
  std::unique_ptr<ByteSource> source = std::make_unique<PlainSource>(path, watch);
  for (int gzip_layers = 0;; ++gzip_layers) {
    std::string head = read_head(*source);
    if (head.empty()) throw Error(name, why_empty(*source, gzip_layers));
    const bool gzip = is_gzip(head);
    if (gzip && gzip_layers == kMaxGzipLayers)
      throw Error(name, "is packed by gzip more than twice; unpack it first (gzip -d)");
    if (const std::optional<Foreign> foreign = sniff_foreign(head))
      throw Error(name, fmt::format("is {}{}; {}", foreign->what,
                                    gzip_layers > 0 ? ", packed by gzip" : "", foreign->advice));
    const bool digest = is_digest(head);
    source = std::make_unique<ReplaySource>(std::move(head), std::move(source));
    if (digest) return std::make_unique<DigestSource>(std::move(source), name, threads);
    if (!gzip) return source;
    source = unpack(std::move(source), gzip_layers);
  }
}

}  // namespace traceloom
