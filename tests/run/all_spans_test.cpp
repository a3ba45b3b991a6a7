// A run holds all spans of a file: those that the oracle finds, which reads the whole of it.
#include "oracle/oracle.h"
#include "run/run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

struct ToldSpan {
  std::string name;
  std::int64_t start_ns;  // since the first span
  std::int64_t duration_ns;
  auto operator<=>(const ToldSpan&) const = default;
};
using ToldSpans = std::vector<ToldSpan>;

ToldSpans since_first(ToldSpans spans) {
  if (spans.empty()) return spans;
  const std::int64_t first_ns = std::ranges::min_element(spans, {}, &ToldSpan::start_ns)->start_ns;
  for (ToldSpan& span : spans) span.start_ns -= first_ns;
  std::ranges::sort(spans);
  return spans;
}

ToldSpans spans_of_run(const std::string& path) {
  const Run run = read_run({.inputs = {{path, std::nullopt}}, .spans = LabelFilter{}});
  ToldSpans spans;
  for (const RankEvents& rank : run.ranks)
    rank.for_each_span([&](const HostSpan& span) {
      spans.push_back(
          {std::string(run.labels.name(span.label)), span.start_ns, span.end_ns - span.start_ns});
    });
  return since_first(std::move(spans));
}

ToldSpans spans_of_oracle(const std::string& path) {
  ToldSpans spans;
  for (const oracle::Span& span : oracle::find_spans(oracle::load(path)).spans)
    spans.push_back({span.name, span.start_ns, span.duration_ns});
  return since_first(std::move(spans));
}

}  // namespace

TEST_CASE("all_spans: a run has the spans of each stored trace, no more and no fewer") {
  std::size_t files = 0;
  for (const char* const folder : {"demo", "devices", "cycles", "straggler", "small", "modules"})
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(TRACELOOM_SOURCE_DIR) / "testdata" / folder)) {
      const std::string path = entry.path();
      if (!path.ends_with(".json") && !path.ends_with(".json.gz")) continue;
      CAPTURE(path);
      CHECK(spans_of_run(path) == spans_of_oracle(path));
      ++files;
    }
  CHECK(files > 40);
}
