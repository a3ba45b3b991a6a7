#include "base/problems.h"
#include "input/byte_source.h"
#include "support/gzip_text.h"
#include "support/memory_source.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/stat.h>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

// Makes `change` without changing the file's time, as if both happened at the same moment.
void keep_time(const std::string& path, const std::function<void()>& change) {
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  change();
  const timespec times[] = {status.st_atim, status.st_mtim};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

void append(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

// Returns the message if `change` happens after the file was opened.
std::string said_after(const std::string& path, const std::function<void()>& change) {
  FileWatch watch;
  const std::unique_ptr<ByteSource> source = open_input(path, &watch);
  change();
  read_all(*source);
  try {
    source->check_unchanged();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string changed(const std::string& path, const std::string& how) {
  return path + ": the file changed while it was read (" + how +
         "); read it again when it is complete";
}

}  // namespace

TEST_CASE("file_watch: a file that is left alone may be read as often as one likes") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.json", "[{}]");
  FileWatch watch;
  for (int pass = 0; pass < 3; ++pass) {
    const std::unique_ptr<ByteSource> source = open_input(path, &watch);
    CHECK(read_all(*source) == "[{}]");
    source->check_unchanged();
    CHECK(SeekableFile::open(path, &watch)->size() == 4);
  }
}

TEST_CASE("file_watch: a file that is cut, grows, is written to or replaced while it is read") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.json", "[{}, {}]");
  CHECK(said_after(path, [] {}) == "");
  CHECK(said_after(path, [&] { fs::resize_file(path, 4); }) ==
        changed(path, "it had 8 bytes and has 4"));
  CHECK(said_after(path, [&] { append(path, "{}]"); }) ==
        changed(path, "it had 4 bytes and has 7"));
  CHECK(said_after(path, [&] { fs::last_write_time(path, fs::file_time_type{}); }) ==
        changed(path, "it was written to"));
  CHECK(said_after(path, [&] {
          keep_time(path, [&] { fs::rename(folder.write("b.json", "[{}, {}"), path); });
        }) == changed(path, "another file has taken its place"));
}

TEST_CASE("file_watch: a packed file too, whatever ends its text") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.json.gz", gzip("[{}]") + "no gzip data");
  CHECK(said_after(path, [] {}) == "");
  CHECK(
      said_after(path, [&] { append(path, "."); }).ends_with("read it again when it is complete"));
}

TEST_CASE("file_watch: a file that is removed while it is read is whole") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.json", "[{}]");
  CHECK(said_after(path, [&] { fs::remove(path); }) == "");
}

TEST_CASE("file_watch: a file that changes between two times it is opened is not opened again") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.json", "[{}, {}]");
  FileWatch watch;
  CHECK(SeekableFile::open(path, &watch).has_value());
  append(path, "\n");
  const std::string message = changed(path, "it had 8 bytes and has 9");
  CHECK_THROWS_WITH_AS(open_input(path, &watch), message.c_str(), Error);
  CHECK_THROWS_WITH_AS(SeekableFile::open(path, &watch), message.c_str(), Error);
}

TEST_CASE("file_watch: a pipe, a folder or a device that takes the place of a file is not opened") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.json", "[{}, {}]");
  FileWatch watch;
  const std::unique_ptr<ByteSource> source = open_input(path, &watch);
  read_all(*source);
  fs::remove(path);
  SUBCASE("pipe") {
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  }
  SUBCASE("folder") {
    fs::create_directory(path);
  }
  SUBCASE("device") {
    fs::create_symlink("/dev/zero", path);
  }
  const std::string message = changed(path, "another file has taken its place");
  CHECK_THROWS_WITH_AS(source->check_unchanged(), message.c_str(), Error);
  CHECK_THROWS_WITH_AS(open_input(path, &watch), message.c_str(), Error);
  fs::remove(path);
}

TEST_CASE("file_watch: a source without a watch notices what changes while it reads") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.json", "[{}, {}]");
  const std::unique_ptr<ByteSource> source = open_input(path);
  fs::resize_file(path, 4);
  const std::string message = changed(path, "it had 8 bytes and has 4");
  CHECK_THROWS_WITH_AS(source->check_unchanged(), message.c_str(), Error);
}
