// These tests check that every broken and odd input of testdata ends as testdata/README.md says.
#include "base/problems.h"
#include "input/input_list.h"
#include "merge/merger.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

const std::string kTestdata = std::string(TRACELOOM_SOURCE_DIR) + "/testdata/";

// Returns the rows of a table, by name: what the merge does, which a row may give as "reject; here
// repair".
std::map<std::string, std::string> verdicts(const std::string& section) {
  const std::string text = read_file(kTestdata + "README.md");
  const std::size_t begin = text.find("\n## " + section + "/\n");
  const std::string table = text.substr(begin, text.find("\n## ", begin + 1) - begin);
  const std::regex row(R"(\n\| `([^`]+?)/?` \| .* \| (?:\w+; here )?(accept|repair|reject) \|)");
  std::map<std::string, std::string> found;
  for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at)
    found[(*at)[1]] = (*at)[2];
  return found;
}

bool is_told(const ProblemCounts& problems) {
  const std::vector<Problem> kinds = problems.kinds();
  // A file whose times lie far from the origin is as good as any.
  return std::any_of(kinds.begin(), kinds.end(), [](Problem kind) {
    return describe(kind).severity != Severity::info && kind != Problem::far_timestamp;
  });
}

std::string outcome(const std::string& path) {
  const TemporaryFolder folder;
  MergeOptions options;
  options.inputs = expand_inputs({path});
  options.output = folder.path("merged.json");
  options.threads = 1;
  try {
    const MergeSummary summary = merge_traces(options);
    const bool told = std::any_of(summary.files.begin(), summary.files.end(),
                                  [](const MergedFile& file) { return is_told(file.problems); });
    return told || !summary.repeats.empty() ? "repair" : "accept";
  } catch (const Error& error) {
    CHECK(error.path().starts_with(path));
    CHECK(folder.entry_count() == 0);
    return "reject";
  }
}

void check_section(const std::string& section) {
  const std::map<std::string, std::string> expected = verdicts(section);
  std::map<std::string, std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(kTestdata + section))
    found[entry.path().filename()] = outcome(entry.path());
  CHECK(found.size() == expected.size());
  for (const auto& [name, verdict] : found) {
    CAPTURE(name);
    REQUIRE(expected.contains(name));
    CHECK(verdict == expected.at(name));
  }
}

}  // namespace

TEST_CASE("testdata_verdicts: each broken file is taken, repaired or refused as its verdict says") {
  check_section("broken");
}

TEST_CASE("testdata_verdicts: each odd set of ranks is taken, repaired or refused, too") {
  check_section("merge");
}
