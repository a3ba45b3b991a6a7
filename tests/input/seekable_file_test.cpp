#include "input/byte_source.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <string>
#include <sys/stat.h>
#include <utility>

using namespace traceloom;

TEST_CASE("seekable_file: reads any place, as far as the file goes") {
  const TemporaryFolder folder;
  std::optional<SeekableFile> file = SeekableFile::open(folder.write("a.txt", "0123456789"));
  REQUIRE(file);
  CHECK(file->size() == 10);
  CHECK(file->read(3, 4) == "3456");
  CHECK(file->read(8, 4) == "89");
  CHECK(file->read(0, 10) == "0123456789");
  CHECK(file->read(10, 4) == "");
  CHECK(file->read(100, 4) == "");
  const SeekableFile moved = std::move(*file);
  CHECK(moved.read(0, 1) == "0");
}

TEST_CASE("seekable_file: only of regular files") {
  const TemporaryFolder folder;
  CHECK_FALSE(SeekableFile::open(folder.path("missing")));
  CHECK_FALSE(SeekableFile::open(folder.path("")));
  CHECK_FALSE(SeekableFile::open("/dev/null"));
  // Does not wait for somebody to write.
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK_FALSE(SeekableFile::open(folder.path("pipe")));
}
