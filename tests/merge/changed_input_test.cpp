// These inputs change while they are merged: the error names the file, and the old output stays.
#include "base/problems.h"
#include "merge/merger.h"
#include "support/gzip_text.h"
#include "support/merge_texts.h"
#include "support/trace_text.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

using Change = std::function<void(const std::string& path)>;

// Merges two files, the second of which changes at the moment when all passes before
// `passes_before` have read it and this one has, too: the progress is reported before its end is
// looked at. Returns what the merge says.
struct ChangingMerge {
  std::string name = "rank1.json";
  bool always_survey = false;
  MergeFormat format = MergeFormat::json;
  bool keep_going = false;
  std::uint64_t passes_before = 0;

  std::string said(const Change& change) const {
    const TemporaryFolder folder;
    const std::string text = rank_text(1, "2000", 2007);
    MergeOptions options = merge_options(folder,
                                         {{"rank0.json", rank_text(0, "1000", 1007)},
                                          {name, name.ends_with(".gz") ? gzip(text) : text}},
                                         "out.json");
    folder.write("out.json", "old");
    options.always_survey = always_survey;
    options.format = format;
    options.keep_going = keep_going;
    const std::string path = folder.path(name);
    const std::uint64_t total = fs::file_size(folder.path("rank0.json")) + fs::file_size(path);
    bool has_changed = false;
    options.progress = [&](std::uint64_t done, std::uint64_t) {
      if (has_changed || done < (passes_before + 1) * total) return;
      has_changed = true;
      change(path);
    };
    std::string said;
    try {
      merge_traces(options);
    } catch (const std::exception& error) {
      said = error.what();
      CHECK(read_file(options.output) == "old");
    }
    CHECK(has_changed);
    CHECK(folder.entry_count() == 3);  // no temporary file
    const std::size_t at = said.find(path);
    return at == std::string::npos ? said : said.replace(at, path.size(), name);
  }
};

void cut(const std::string& path) {
  fs::resize_file(path, fs::file_size(path) - 1);
}

void append(const std::string& path) {
  std::ofstream(path, std::ios::binary | std::ios::app) << "\n";
}

void touch(const std::string& path) {
  fs::last_write_time(path, fs::file_time_type{});
}

void replace(const std::string& path) {
  fs::copy(path, path + ".new");
  fs::rename(path + ".new", path);
}

}  // namespace

TEST_CASE(
    "changed_input: a file that is cut, grows, is written to or replaced while it is merged") {
  for (const char* const name : {"rank1.json", "rank1.json.gz"})
    for (const bool always_survey : {false, true})
      for (const std::uint64_t passes_before : {0, 1}) {
        if (passes_before == 1 && !always_survey) continue;  // one pass is all there is
        CAPTURE(name);
        CAPTURE(always_survey);
        CAPTURE(passes_before);
        const ChangingMerge merge{
            .name = name, .always_survey = always_survey, .passes_before = passes_before};
        const std::string start = std::string(name) + ": the file changed while it was read (";
        CHECK(merge.said(cut).starts_with(start + "it had "));
        CHECK(merge.said(append).starts_with(start + "it had "));
        CHECK(merge.said(touch).starts_with(start + "it was written to); read it again when"));
        CHECK(merge.said(replace).starts_with(start + "another file has taken its place);"));
        CHECK(merge.said([](const std::string&) {}) == "");
      }
}

TEST_CASE("changed_input: in an archive of ranks, too") {
  const ChangingMerge merge{.format = MergeFormat::perfetto_tar};
  CHECK(merge.said(cut).starts_with("rank1.json: the file changed while it was read ("));
}

TEST_CASE("changed_input: keep_going leaves out a file that changes while it is surveyed") {
  const ChangingMerge merge{.always_survey = true, .keep_going = true};
  CHECK(merge.said(cut) == "");
  const ChangingMerge later{.always_survey = true, .keep_going = true, .passes_before = 1};
  CHECK(later.said(cut).starts_with("rank1.json: the file changed while it was read ("));
}
