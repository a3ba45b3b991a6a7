// Every broken and odd input, through the tool itself: it must neither crash nor hang nor leave
// half a file.
#include "merge_corpus/merged_file.h"
#include "support/temporary_folder.h"
#include "support/tries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <cstdlib>
#include <set>
#include <string>
#include <sys/wait.h>
#include <vector>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

// The exit code; 124 when it took more than 5 seconds, -1 when a signal ended it.
int run_merge(const std::string& input, const std::string& output, const std::string& options) {
  const std::string command = fmt::format("timeout 5 '{}' {} '{}' -o '{}' 2>/dev/null", TRACE_MERGE,
                                          options, input, output);
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void check_output(const TemporaryFolder& folder, int code) {
  const bool is_written = fs::exists(folder.path("merged.json"));
  CHECK(is_written == (code != 2));
  CHECK(folder.entry_count() == (is_written ? 1 : 0));
  if (!is_written) return;
  simdjson::dom::parser parser;
  const std::string text = read_file(folder.path("merged.json"));
  CHECK(simdjson::error_message(parser.parse(text).error()) == std::string("No error"));
}

}  // namespace

TEST_CASE("corpus: no broken input crashes the merge or leaves half an output") {
  const fs::path root = reference_traces();
  if (root.empty()) return;
  std::size_t cases = 0;
  const fs::directory_iterator entries(root / "bad");
  for (const fs::path& path : std::set<fs::path>(begin(entries), end(entries))) {
    const std::string input = path.string();
    if (input.ends_with(".md")) continue;
    // A day takes each file in one of both ways.
    const std::vector<std::string> both{"", "--strict --keep-going -j 1"};
    const std::vector<std::string> one{both[++cases % 2]};
    for (const std::string& options : is_night() ? both : one) {
      CAPTURE(input);
      CAPTURE(options);
      const TemporaryFolder folder;
      const int code = run_merge(input, folder.path("merged.json"), options);
      CHECK((code == 0 || code == 2 || (code == 1 && !options.empty())));
      check_output(folder, code);
    }
  }
  CHECK(cases > 120);
}
