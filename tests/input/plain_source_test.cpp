#include "base/problems.h"
#include "input/byte_source.h"
#include "support/memory_source.h"
#include "support/random_text.h"
#include "support/standard_stream.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <pthread.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace traceloom;

namespace {

struct TmpdirFor {
  explicit TmpdirFor(const std::string& folder) { setenv("TMPDIR", folder.c_str(), 1); }
  ~TmpdirFor() {
    if (before)
      setenv("TMPDIR", before->c_str(), 1);
    else
      unsetenv("TMPDIR");
  }
  std::optional<std::string> before = std::getenv("TMPDIR") == nullptr
                                          ? std::nullopt
                                          : std::optional<std::string>(std::getenv("TMPDIR"));
};

// A pipe that holds `text` and nothing more.
int filled_pipe(std::string_view text) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  close(ends[1]);
  return ends[0];
}

}  // namespace

TEST_CASE("plain_source: reads a file whole and knows its size") {
  const TemporaryFolder folder;
  const std::string text = random_bytes(300'000);
  PlainSource source(folder.write("rank0.json", text));
  CHECK(source.stored_size() == text.size());
  std::string buffer(200'000, '\0');
  CHECK(source.read(buffer) == 200'000);
  CHECK(source.stored_bytes_read() == 200'000);
  CHECK((buffer + read_all(source) == text));
  CHECK(source.stored_bytes_read() == text.size());
  CHECK(source.problems().empty());
}

TEST_CASE("plain_source: says what the system says about a file it cannot open") {
  CHECK_THROWS_WITH_AS(PlainSource("/nowhere/rank0.json"),
                       "/nowhere/rank0.json: No such file or directory", Error);
}

TEST_CASE("plain_source: a directory is an error") {
  const TemporaryFolder folder;
  PlainSource source(folder.path());
  const std::string message = folder.path() + ": is a directory; name the files in it";
  std::string buffer(10, '\0');
  CHECK_THROWS_WITH_AS(source.read(buffer), message.c_str(), Error);
}

TEST_CASE("plain_source: fills the buffer from a pipe that delivers little by little") {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const std::string text = random_bytes(200'000);
  std::thread writer([&] {
    const int descriptor = open(path.c_str(), O_WRONLY);
    for (std::size_t at = 0; at < text.size(); at += 1000)
      CHECK(write(descriptor, text.data() + at, 1000) == 1000);
    close(descriptor);
  });
  PlainSource source(path);
  CHECK(source.stored_size() == std::nullopt);
  std::string buffer(150'000, '\0');
  CHECK(source.read(buffer) == 150'000);
  CHECK((buffer + read_all(source) == text));
  writer.join();
}

TEST_CASE("plain_source: goes on after a signal") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const ReplacedStream replaced(STDIN_FILENO, ends[0]);
  struct sigaction handler = {};
  struct sigaction before = {};
  handler.sa_handler = [](int) {};  // no SA_RESTART: read() returns EINTR
  sigaction(SIGUSR1, &handler, &before);
  const pthread_t reader = pthread_self();
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) {
      pthread_kill(reader, SIGUSR1);
      usleep(500);
    }
    CHECK(write(ends[1], "[]", 2) == 2);
    close(ends[1]);
  });
  PlainSource source("-");
  CHECK(read_all(source) == "[]");
  writer.join();
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("plain_source: stdin may stand in the middle of a file") {
  const TemporaryFolder folder;
  const int descriptor = open(folder.write("a.json", "skipped[1,2]").c_str(), O_RDONLY);
  REQUIRE(lseek(descriptor, 7, SEEK_SET) == 7);
  const ReplacedStream replaced(STDIN_FILENO, descriptor);
  PlainSource source("-");
  CHECK(source.stored_size() == 5);
  CHECK(read_all(source) == "[1,2]");
}

TEST_CASE("plain_source: the size of a file in /proc is not known") {
  PlainSource source("/proc/self/status");
  CHECK(source.stored_size() == std::nullopt);
  CHECK(read_all(source).starts_with("Name:"));
}

TEST_CASE("plain_source: stdin is called stdin") {
  const TemporaryFolder folder;
  const ReplacedStream replaced(STDIN_FILENO, open(folder.path().c_str(), O_RDONLY));
  PlainSource source("-");
  std::string buffer(10, '\0');
  CHECK_THROWS_WITH_AS(source.read(buffer), "stdin: is a directory; name the files in it", Error);
}

TEST_CASE("plain_source: the copy of stdin is in TMPDIR, without a name") {
  const TemporaryFolder folder;
  const TmpdirFor tmpdir(folder.path());
  const ReplacedStream replaced(STDIN_FILENO, filled_pipe("[1]"));
  make_stdin_rereadable();
  const std::string copy = std::filesystem::read_symlink("/proc/self/fd/0").string();
  CHECK(copy.starts_with(folder.path() + "/"));
  CHECK(copy.ends_with(" (deleted)"));
  CHECK(folder.entry_count() == 0);
  for (int pass = 0; pass < 2; ++pass) {
    PlainSource source("-");
    CHECK(read_all(source) == "[1]");
  }
}

TEST_CASE("plain_source: a TMPDIR that is not there is told, with what to do") {
  const TmpdirFor tmpdir("/nowhere");
  const ReplacedStream replaced(STDIN_FILENO, filled_pipe("[1]"));
  CHECK_THROWS_WITH_AS(make_stdin_rereadable(),
                       "temporary copy of stdin: /nowhere: No such file or directory; TMPDIR names "
                       "another folder",
                       Error);
}

TEST_CASE("plain_source: a pipe without a writer is empty, and does not wait for ever") {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  PlainSource source(path);
  CHECK(read_all(source).empty());
}

TEST_CASE("plain_source: a pipe whose writer comes a little later is read") {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const int descriptor = open(path.c_str(), O_WRONLY);
    CHECK(write(descriptor, "[{}]", 4) == 4);
    close(descriptor);
  });
  PlainSource source(path);
  CHECK(read_all(source) == "[{}]");
  writer.join();
}

TEST_CASE("plain_source: a device is refused, since it need not end") {
  CHECK_THROWS_WITH_AS(PlainSource("/dev/zero"), "/dev/zero: is a device; name a file or a pipe",
                       Error);
}
