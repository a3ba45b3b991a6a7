// These tests check that parts which are written by themselves become the file that one writer
// makes.
#include "base/problems.h"
#include "merge/order/merge_output.h"
#include "output/file_sink.h"
#include "output/sink.h"
#include "support/gzip_text.h"
#include "support/random_text.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

constexpr int kLevel = 1;

using Texts = std::vector<std::string>;

void write_block(Sink& output, const std::string& text) {
  if (PackedSink* const packed = output.packed())
    packed->write_block(packed->compress(text));
  else
    output.write(text);
}

// Writes the head, the texts and the tail, the texts from `parts` on in parts of their own.
std::string written(const std::string& path, const Texts& texts, std::size_t parts) {
  const std::unique_ptr<Sink> output = pack_by_name(open_file_sink(path), path, kLevel);
  output->write("[1");
  std::deque<PartOutput> others;
  std::vector<PartSize> sizes;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i >= parts) {
      PartOutput& part = others.emplace_back(path, kLevel);
      if (!texts[i].empty()) write_block(part.output(), texts[i]);
      sizes.push_back(part.complete());
    } else if (!texts[i].empty()) {
      write_block(*output, texts[i]);
    }
  }
  const std::vector<FileGap> gaps = leave_gaps(*output, sizes);
  for (std::size_t i = 0; i < gaps.size(); ++i) others[i].copy_to(gaps[i]);
  output->write("]");
  output->close();
  return read_file(path);
}

}  // namespace

TEST_CASE("part_output: parts give the bytes of one writer") {
  const Texts large{random_trace_text(3'000'000), random_trace_text(70'000), "",
                    random_trace_text(900'000)};
  for (const Texts& texts : {large, Texts{",2", ",3", ",4"}, Texts{"", "", ",2"}, Texts{"", ""}})
    for (const char* const name : {"out.json", "out.json.gz", "out.json.zst"}) {
      const TemporaryFolder folder;
      const std::string path = folder.path(name);
      const std::string whole = written(path, texts, texts.size());
      for (std::size_t parts = 0; parts < texts.size(); ++parts) {
        CAPTURE(name);
        CAPTURE(parts);
        CHECK((written(path, texts, parts) == whole));
        CHECK(folder.entry_count() == 1);
      }
    }
}

TEST_CASE("part_output: the text of gzip is whole, too") {
  const TemporaryFolder folder;
  const std::string bytes = written(folder.path("out.json.gz"), {",2", ",3", ",4"}, 1);
  CHECK(gunzip_one_member(bytes) == "[1,2,3,4]");
}

TEST_CASE("part_output: a file that is not seen is an error with the output's name") {
  const TemporaryFolder folder;
  const std::string path = folder.path("out.json");
  PartOutput part(path, kLevel);
  part.output().write("text");
  part.complete();
  CHECK_THROWS_WITH_AS(
      part.copy_to({folder.path("gone"), 0}),
      (path + ": a process of the team does not see its folder; with --mpi all processes need the "
              "same file system")
          .c_str(),
      Error);
}

TEST_CASE("part_output: only a file that is written aside has gaps") {
  CHECK_THROWS_WITH_AS(open_file_sink("/dev/null")->leave_gap(1),
                       "this output is no file that others can write to", std::logic_error);
}
