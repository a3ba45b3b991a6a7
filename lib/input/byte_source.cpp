#include "input/byte_source.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "input/gzip_source.h"
#include "input/zstd_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace traceloom {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// The state of a pipe, folder or device: nothing is known about it, and it equals no regular file.
constexpr FileState kNoFile{};

FileState state_of(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return kNoFile;
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          kNsPerSecond * status.st_mtim.tv_sec + status.st_mtim.tv_nsec};
}

std::optional<FileState> state_of(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 ? std::optional(state_of(status)) : std::nullopt;
}

std::optional<FileState> state_of(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? std::optional(state_of(status)) : std::nullopt;
}

std::string what_changed(const FileState& before, const FileState& now) {
  if (before.device != now.device || before.inode != now.inode)
    return "another file has taken its place";
  if (before.size != now.size)
    return fmt::format("it had {} bytes and has {}", before.size, now.size);
  return "it was written to";
}

void compare(const std::string& path, const FileState& before,
             const std::optional<FileState>& now) {
  if (!now || *now == before) return;
  throw Error(path == "-" ? "stdin" : path,
              fmt::format("the file changed while it was read ({}); read it again when it "
                          "is complete",
                          what_changed(before, *now)));
}

}  // namespace

void FileWatch::opened(const std::string& path, int descriptor) {
  const std::optional<FileState> now = state_of(descriptor);
  if (!now) return;
  const auto first = [&] {
    const std::lock_guard lock(mutex_);
    if (*now != kNoFile) states_.try_emplace(path, *now);
    const auto state = states_.find(path);
    return state == states_.end() ? *now : state->second;
  }();
  compare(path, first, now);
}

void FileWatch::read(const std::string& path, int descriptor) const {
  const std::optional<FileState> before = known(path);
  if (!before) return;
  compare(path, *before, state_of(descriptor));
  if (path != "-") compare(path, *before, state_of(path));
}

std::optional<FileState> FileWatch::known(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto state = states_.find(path);
  return state == states_.end() ? std::nullopt : std::optional(state->second);
}

std::optional<SeekableFile> SeekableFile::open(const std::string& path, FileWatch* watch) {
  // A pipe is not even opened: its writer would find a reader, and lose it again. O_NONBLOCK is
  // for a pipe that takes the file's place now, since opening it would wait for a writer.
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (watch != nullptr) watch->opened(path, file);
  return SeekableFile(std::move(file), static_cast<std::uint64_t>(status.st_size));
}

std::string SeekableFile::read(std::uint64_t offset, std::size_t size) const {
  std::string text(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t n = pread(file_, text.data() + got, size - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  text.resize(got);
  return text;
}

namespace {

// Linux moves at most 2 GiB in one read().
constexpr std::size_t kMaxReadBytes = std::size_t{1} << 30;

constexpr const char* kIsDirectory = "is a directory; name the files in it";

// The position where "-" begins each time, once make_stdin_rereadable() has been called.
off_t stdin_start = -1;

int open_for_reading(const std::string& path) {
  if (path == "-") {
    if (stdin_start >= 0) lseek(STDIN_FILENO, stdin_start, SEEK_SET);
    return STDIN_FILENO;
  }
  // O_NONBLOCK is needed because opening a pipe without a writer would wait for ever.
  const auto descriptor =
      static_cast<int>(TEMP_FAILURE_RETRY(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
  if (descriptor < 0) throw system_error(path, errno);
  return descriptor;
}

// The time that a pipe has for its first byte, or its writer to appear.
constexpr int kPipeWaitMs = 2'000;

// Refuses a device, which need not have an end. Reading a pipe waits for its writer afterwards; a
// pipe that has none is empty.
void prepare_special(const std::string& path, int descriptor, mode_t mode) {
  if (S_ISCHR(mode) || S_ISBLK(mode)) throw Error(path, "is a device; name a file or a pipe");
  if (!S_ISFIFO(mode)) return;
  pollfd pipe{descriptor, POLLIN, 0};
  poll(&pipe, 1, kPipeWaitMs);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
}

// Throws with the reason in errno.
[[noreturn]] void throw_cannot_copy_stdin() {
  throw Error("temporary copy of stdin",
              fmt::format("{}: {}; TMPDIR names another folder", temporary_folder(),
                          std::generic_category().message(errno)));
}

void append_to_copy(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      throw_cannot_copy_stdin();
  }
}

}  // namespace

void UnpackedSource::add_end(std::optional<Problem> reason, std::uint64_t text_bytes) {
  const ProblemCounts& below = packed_->problems();
  if (reason && !below.has_loss()) problems_.add(*reason, text_bytes);
  for (const Problem kind : below.kinds()) problems_.add(kind, text_bytes, below.count(kind));
}

std::string input_name(const std::string& path) {
  return path == "-" ? "stdin" : path;
}

void make_stdin_rereadable() {
  struct stat status = {};
  if (fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode)) {
    stdin_start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    return;
  }
  const Descriptor copy = open_unnamed_file(temporary_folder());
  if (copy < 0) throw_cannot_copy_stdin();
  PlainSource source("-");
  std::vector<char> buffer(std::size_t{1} << 18);
  while (const std::size_t size = source.read(buffer))
    append_to_copy(copy, std::string_view(buffer.data(), size));
  if (dup2(copy, STDIN_FILENO) < 0) throw_cannot_copy_stdin();
  stdin_start = 0;
}

PlainSource::PlainSource(const std::string& path, FileWatch* watch)
    : path_(path),
      watch_(watch != nullptr ? *watch : own_watch_),
      descriptor_(open_for_reading(path)),
      file_(descriptor_ == STDIN_FILENO ? -1 : descriptor_) {
  struct stat status = {};
  watch_.opened(path_, descriptor_);
  if (fstat(descriptor_, &status) != 0) return;
  if (file_ >= 0) prepare_special(path_, file_, status.st_mode);
  if (!S_ISREG(status.st_mode)) return;
  // Files in /proc report size 0 but hold text; stdin may start in the middle of its file.
  const off_t position = std::max<off_t>(lseek(descriptor_, 0, SEEK_CUR), 0);
  if (status.st_size > position) size_ = static_cast<std::uint64_t>(status.st_size - position);
}

void PlainSource::check_unchanged() const {
  watch_.read(path_, descriptor_);
}

std::size_t PlainSource::read(std::span<char> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const std::size_t wanted = std::min(buffer.size() - filled, kMaxReadBytes);
    const ssize_t got = ::read(descriptor_, buffer.data() + filled, wanted);
    if (got == 0) break;
    if (got > 0) {
      filled += static_cast<std::size_t>(got);
    } else if (errno == EISDIR) {
      throw Error(input_name(path_), kIsDirectory);
    } else if (errno != EINTR) {
      throw system_error(input_name(path_), errno);
    }
  }
  bytes_read_ += filled;
  return filled;
}

namespace {

using namespace std::string_view_literals;

struct Magic {
  std::size_t offset;
  std::string_view bytes;
  Foreign foreign;
};

constexpr std::string_view kToUtf8 = "convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)";
constexpr std::string_view kNeedsJson = "Chrome JSON traces are needed";
constexpr Foreign kPickle{"a pickle", "trace-stats memory reads those that hold memory, as files"};

constexpr std::array kMagics{
    Magic{0,
          "\x89TLDG\r\n\x1a"sv,
          {"a digest of an older Traceloom",
           "unpack it with that: trace-merge DIGEST -o TRACE.json"}},
    Magic{0, "PK\3\4"sv, {"a zip archive", "unpack it first (unzip)"}},
    Magic{0, "PK\5\6"sv, {"an empty zip archive", kNeedsJson}},
    Magic{0, "\x04\x22\x4d\x18"sv, {"lz4 compressed", "unpack it first (lz4 -d)"}},
    Magic{0, "BZh"sv, {"bzip2 compressed", "unpack it first (bzip2 -d)"}},
    Magic{0, "\xfd\x37zXZ\0"sv, {"xz compressed", "unpack it first (xz -d)"}},
    Magic{0, "7z\xbc\xaf\x27\x1c"sv, {"a 7z archive", "unpack it first (7z x)"}},
    Magic{257, "ustar"sv, {"a tar archive", "unpack it first (tar -xf)"}},
    Magic{0, "\x89PNG\r\n\x1a\n"sv, {"a PNG picture", kNeedsJson}},
    Magic{0, "\x80\x02"sv, kPickle},
    Magic{0, "\x80\x03"sv, kPickle},
    Magic{0, "\x80\x04"sv, kPickle},
    Magic{0, "\x80\x05"sv, kPickle},
    Magic{0, "# tracer:"sv, {"ftrace text", kNeedsJson}},
    Magic{0, "\xff\xfe"sv, {"UTF-16 text", kToUtf8}},
    Magic{0, "\xfe\xff"sv, {"UTF-16 text", kToUtf8}},
    Magic{0, "SQLite format 3\0"sv, {"an SQLite database (an nsys export?)", kNeedsJson}},
    Magic{0,
          "version https://git-lfs"sv,
          {"a git-lfs pointer, not the file itself", "fetch the file first (git lfs pull)"}},
};

constexpr Foreign kUtf16WithoutMark{"UTF-16 text", kToUtf8};
constexpr Foreign kMarkup{"HTML or XML (a saved error page?)", "save the trace itself"};
constexpr Foreign kPerfetto{"a binary Perfetto trace", "convert it to JSON first (traceconv json)"};
constexpr Foreign kZeros{"filled with zero bytes at the start",
                         "it was probably never written to the end; record it again"};

// UTF-16 text begins with a bracket or brace and a zero byte next to it; UTF-8 text never does.
bool is_utf16_without_mark(std::string_view head) {
  if (head.size() < 4) return false;
  const auto opens = [](char c) { return c == '[' || c == '{' || is_space(c); };
  const bool little = opens(head[0]) && head[1] == 0 && head[2] != 0 && head[3] == 0;
  const bool big = head[0] == 0 && opens(head[1]) && head[2] == 0 && head[3] != 0;
  return little || big;
}

// A Perfetto trace is a list of packets. Each begins with a line feed (field 1, bytes), its length
// and its fields. JSON may begin with a line feed too, but the next bytes differ: a packet has the
// key of a field where JSON has a bracket or more white space.
bool is_perfetto(std::string_view head) {
  if (head.empty() || head[0] != '\n') return false;
  std::size_t position = 1;
  while (position < head.size() && (head[position] & 0x80) != 0) ++position;
  if (position + 1 >= head.size()) return false;
  const bool text_so_far = position == 1 && (is_space(head[1]) || head[1] == '[' || head[1] == '{');
  if (text_so_far) return false;
  const auto key = static_cast<std::uint8_t>(head[position + 1]);
  constexpr std::array kWireTypes{0, 1, 2, 5};
  const bool is_wire_type = std::ranges::find(kWireTypes, key & 7) != kWireTypes.end();
  return is_wire_type && key >> 3 != 0;
}

std::string_view without_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool is_pipe(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_fifo(path, ignored);
}

bool is_gzip(std::string_view head) {
  return head.starts_with("\x1f\x8b");
}

std::optional<Foreign> sniff_foreign(std::string_view head) {
  for (const Magic& magic : kMagics)
    if (head.size() > magic.offset && head.substr(magic.offset).starts_with(magic.bytes))
      return magic.foreign;
  if (is_utf16_without_mark(head)) return kUtf16WithoutMark;
  if (is_perfetto(head)) return kPerfetto;
  const std::size_t mark = head.starts_with("\xef\xbb\xbf") ? 3 : 0;
  if (without_space(head.substr(mark)).starts_with('<')) return kMarkup;
  if (!head.empty() && head.find_first_not_of('\0') == std::string_view::npos) return kZeros;
  return std::nullopt;
}

namespace {

constexpr int kMaxLayers = 2;

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

// `packing` is that of the layer that was removed last; empty for none.
std::string why_empty(const std::string& path, const ByteSource& source, std::string_view packing) {
  if (packing.empty())
    return is_pipe(path)
               ? "nothing came through the pipe; nobody writes to it, or its writer failed"
               : "the file is empty";
  const auto has = [&](Problem a, Problem b) {
    return source.problems().count(a) + source.problems().count(b) != 0;
  };
  if (has(Problem::gzip_cut, Problem::zstd_cut))
    return fmt::format(
        "the {} data is cut off before its first byte of text; copy or record the file again",
        packing);
  if (has(Problem::gzip_damaged, Problem::zstd_damaged))
    return fmt::format("the {} data is damaged at its start; copy or record the file again",
                       packing);
  return fmt::format("the file is empty ({} of nothing)", packing);
}

std::string_view packing_of(std::string_view head) {
  return is_gzip(head) ? "gzip" : is_zstd(head) ? "zstd" : "";
}

enum class Formats : std::uint8_t { text, any };

std::unique_ptr<ByteSource> open_unpacked(const std::string& path, FileWatch* watch,
                                          unsigned threads, Formats formats) {
  const std::string name = input_name(path);
  std::unique_ptr<ByteSource> source = std::make_unique<PlainSource>(path, watch);
  std::string_view before;
  for (int layers = 0;; ++layers) {
    std::string head = read_head(*source);
    if (head.empty()) throw Error(name, why_empty(path, *source, before));
    const std::string_view packing = packing_of(head);
    if (!packing.empty() && layers == kMaxLayers)
      throw Error(name, "is compressed more than twice; unpack it first (gzip -d, zstd -d)");
    const std::optional<Foreign> foreign = sniff_foreign(head);
    if (foreign && formats == Formats::text)
      throw Error(name, fmt::format("is {}{}{}; {}", foreign->what,
                                    before.empty() ? "" : ", packed by ", before, foreign->advice));
    source = std::make_unique<ReplaySource>(std::move(head), std::move(source));
    if (packing.empty()) return source;
    ProblemCounts known;
    if (layers > 0) known.add(Problem::packed_twice, 0);
    if (packing == "gzip")
      source = std::make_unique<GzipSource>(std::move(source), make_inflater(), known);
    else
      source = std::make_unique<ZstdSource>(std::move(source), name, threads, known);
    before = packing;
  }
}

}  // namespace

std::unique_ptr<ByteSource> open_input(const std::string& path, FileWatch* watch,
                                       unsigned threads) {
  return open_unpacked(path, watch, threads, Formats::text);
}

std::unique_ptr<ByteSource> open_any(const std::string& path) {
  return open_unpacked(path, nullptr, 1, Formats::any);
}

namespace {

constexpr std::size_t kHeadBytes = std::size_t{4} << 10;
// Notes and reports are small: 4 MiB at once for each of 8 took 5 ms.
constexpr std::size_t kPieceBytes = std::size_t{64} << 10;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

bool is_trace_so_far(std::string_view text) {
  const auto first = std::ranges::find_if_not(text, is_space);
  if (first == text.end() || *first != '{') return true;
  // A report may have the word as a value.
  constexpr std::string_view kKey = "\"traceEvents\"";
  for (std::size_t at = 0; (at = text.find(kKey, at)) != text.npos;) {
    at += kKey.size();
    const auto next = std::ranges::find_if_not(text.substr(at), is_space);
    if (next == text.end() || *next == ':') return true;
  }
  return false;
}

// Appends up to `bytes` bytes of the source; returns false at its end.
bool read_more(ByteSource& source, std::size_t bytes, std::string& text) {
  const std::size_t before = text.size();
  text.resize(before + bytes);
  const std::size_t got = source.read(std::span(text).subspan(before));
  text.resize(before + got);
  return got == bytes;
}

}  // namespace

std::string read_text(const std::string& path, std::size_t most) {
  const std::unique_ptr<ByteSource> source = open_input(path);
  std::string text;
  while (read_more(*source, kPieceBytes, text))
    if (text.size() > most)
      throw Error(input_name(path), fmt::format("has more than {} bytes of text", most));
  source->check_unchanged();
  return text;
}

std::string first_bytes(const std::string& path) try {
  std::string text;
  read_more(*open_any(path), kHeadBytes, text);
  return text;
} catch (const Error&) {
  return {};
}

bool has_rows(std::string_view head) {
  std::string_view rest = without_space(head);
  if (!rest.starts_with('[')) return false;
  rest = without_space(rest.substr(1));
  return rest.starts_with('[');
}

JsonFile json_file(const std::string& path) try {
  const std::unique_ptr<ByteSource> source = open_input(path);
  std::string text;
  bool has_more = read_more(*source, kHeadBytes, text);
  if (has_rows(text)) return JsonFile::rows;
  while (has_more && text.size() < kMostBytes && !is_trace_so_far(text))
    has_more = read_more(*source, kPieceBytes, text);
  return !has_more && !is_trace_so_far(text) && is_strict_json(without_space(text))
             ? JsonFile::other
             : JsonFile::trace;
} catch (const Error&) {
  return JsonFile::trace;
}

}  // namespace traceloom
