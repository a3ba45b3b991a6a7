// Journals: whatever one says, its recovery ends with a whole trace or leaves it as it was. An
// input is a list of damages to a journal that a killed process has left.
#include "base/json_string.h"
#include "fuzz/fuzz.h"
#include "input/byte_source.h"
#include "record/dead_journals.h"
#include "record/journal/recover.h"
#include "support/memory_source.h"
#include "support/temporary_folder.h"

#include <fcntl.h>
#include <filesystem>
#include <fuzzer/FuzzedDataProvider.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPage = 4096;

struct Left {
  std::string path;
  std::string text;
};

Left leave(const TemporaryFolder& folder, bool is_tsc) {
  Left left;
  left.path = leave_journal({.folder = folder.path(),
                             .trace = folder.path("ep0-ba0-rank0.unfinished.json"),
                             .is_tsc = is_tsc});
  left.text = read_file(left.path);
  fs::remove(left.path);
  return left;
}

bool is_hole(std::string_view page) {
  static const std::string kHole(kPage, '\0');
  return page == std::string_view(kHole).substr(0, page.size());
}

// Most of a journal is room, which stays a hole.
void write_sparse(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_TRUNC, 0600);
  require(file >= 0 && ftruncate(file, static_cast<off_t>(text.size())) == 0);
  for (std::size_t at = 0; at < text.size(); at += kPage) {
    const std::string_view page = text.substr(at, kPage);
    if (!is_hole(page))
      require(pwrite(file, page.data(), page.size(), static_cast<off_t>(at)) ==
              static_cast<ssize_t>(page.size()));
  }
  close(file);
}

bool has_text(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const mapped = mmap(nullptr, text.size(), PROT_READ, MAP_PRIVATE, file, 0);
  require(mapped != MAP_FAILED && fs::file_size(path) == text.size());
  const bool same = text == std::string_view(static_cast<const char*>(mapped), text.size());
  munmap(mapped, text.size());
  close(file);
  return same;
}

// Returns what stood where, to be put back from the last to the first.
std::vector<std::pair<std::size_t, std::string>> damage(std::string& journal,
                                                        FuzzedDataProvider& input) {
  static const std::vector<ToldRange> kRanges = told_ranges();
  std::vector<std::pair<std::size_t, std::string>> before;
  while (input.remaining_bytes() > 0) {
    const ToldRange& range = kRanges[input.ConsumeIntegral<std::uint8_t>() % kRanges.size()];
    const std::size_t at = range.begin + input.ConsumeIntegral<std::uint16_t>() % range.bytes;
    const std::size_t size = std::size_t{1} << input.ConsumeIntegral<std::uint8_t>() % 4;
    const std::string bytes = input.ConsumeBytesAsString(size);
    before.emplace_back(at / size * size, journal.substr(at / size * size, bytes.size()));
    bytes.copy(journal.data() + before.back().first, bytes.size());
  }
  return before;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  static Left kinds[] = {leave(folder, false), leave(folder, true)};
  FuzzedDataProvider input(data, size);
  const std::uint8_t choice = input.ConsumeIntegral<std::uint8_t>();
  Left& left = kinds[choice % 2];
  const auto before = damage(left.text, input);
  const bool is_cut = choice / 2 % 16 == 1;
  const std::string_view journal =
      std::string_view(left.text).substr(0, left.text.size() - (is_cut ? 64 * choice + 1 : 0));
  write_sparse(left.path, journal);
  if (choice >= 128) folder.write("ep0-ba0-rank0.unfinished.json", "[\n{\"ph\":\"i\"}");
  for (const RecoveredTrace& trace : recover_journals(folder.path(), {folder.path()})) {
    require(fs::exists(left.path) == !trace.problem.empty());
    if (!trace.problem.empty()) require(has_text(left.path, journal));
    if (trace.path.empty()) continue;
    const std::string text = read_all(*open_input(trace.path));
    require(is_strict_json(std::string_view(text).substr(0, text.size() - 1)));
  }
  for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove_all(entry.path());
  for (auto change = before.rbegin(); change != before.rend(); ++change)
    change->second.copy(left.text.data() + change->first, change->second.size());
  return 0;
}
