#include "output/file_sink.h"

#include "base/problems.h"
#include "support/random_text.h"
#include "support/standard_stream.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <pthread.h>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

void write_file(const std::string& path, std::string_view text) {
  const std::unique_ptr<Sink> sink = open_file_sink(path);
  sink->write(text);
  sink->close();
}

std::string error_of(const std::string& path) {
  try {
    write_file(path, "[]");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

unsigned mode_of(const std::string& path) {
  struct stat status = {};
  stat(path.c_str(), &status);
  return status.st_mode & 07777U;
}

struct UmaskFor {
  explicit UmaskFor(mode_t mask) : before(umask(mask)) {}
  ~UmaskFor() { umask(before); }
  mode_t before;
};

// Reads from a pipe's reading end until the pipe is closed.
std::string drain(int descriptor) {
  std::string text;
  char piece[1000];
  for (ssize_t size; (size = read(descriptor, piece, sizeof piece)) != 0;) {
    if (size > 0) text.append(piece, static_cast<std::size_t>(size));
    usleep(10);
  }
  return text;
}

}  // namespace

TEST_CASE("file_sink: the file appears when it is closed, and not before") {
  const TemporaryFolder folder;
  const std::string path = folder.path("out.json");
  const std::string text = random_bytes(300'000);
  const std::unique_ptr<Sink> sink = open_file_sink(path);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = at % 3 == 0 ? 70'001 : 1'234;
    sink->write(std::string_view(text).substr(at, size));
    at += std::min(size, text.size() - at);
  }
  CHECK_FALSE(fs::exists(path));
  CHECK(fs::exists(folder.path(fmt::format(".out.json.traceloom-{}.tmp", getpid()))));
  sink->close();
  CHECK((read_file(path) == text));
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("file_sink: an output that is not closed leaves the old file and no other") {
  const TemporaryFolder folder;
  const std::string path = folder.write("out.json", "old");
  {
    const std::unique_ptr<Sink> sink = open_file_sink(path);
    sink->write(random_bytes(200'000));
  }
  CHECK(read_file(path) == "old");
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("file_sink: an output of nothing is an empty file") {
  const TemporaryFolder folder;
  open_file_sink(folder.path("out.json"))->close();
  CHECK(read_file(folder.path("out.json")).empty());
}

TEST_CASE("file_sink: a file keeps no blocks behind its end") {
  const TemporaryFolder folder;
  const std::string path = folder.path("out.json");
  constexpr std::size_t kSize = 3'000'001;
  const std::unique_ptr<Sink> sink = open_file_sink(path);
  for (std::size_t written = 0; written < kSize; ++written) sink->write("x");
  sink->close();
  struct stat status = {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK(static_cast<std::size_t>(status.st_size) == kSize);
  CHECK(static_cast<std::size_t>(status.st_blocks) * 512 < 2 * kSize);
}

TEST_CASE("file_sink: a new file gets its permissions from the umask") {
  const TemporaryFolder folder;
  const UmaskFor mask(027);
  write_file(folder.path("out.json"), "[]");
  CHECK(mode_of(folder.path("out.json")) == 0640);
}

TEST_CASE("file_sink: a replaced file keeps its permissions") {
  const TemporaryFolder folder;
  const std::string path = folder.write("out.json", "old");
  chmod(path.c_str(), 0606);
  const UmaskFor mask(077);
  write_file(path, "new");
  CHECK(read_file(path) == "new");
  CHECK(mode_of(path) == 0606);
}

TEST_CASE("file_sink: a link stays, the file behind it is replaced") {
  const TemporaryFolder folder;
  folder.write("deep/target.json", "old");
  fs::create_symlink("target.json", folder.path("deep/second.json"));
  fs::create_symlink("deep/second.json", folder.path("first.json"));
  write_file(folder.path("first.json"), "new");
  CHECK(fs::is_symlink(folder.path("first.json")));
  CHECK(fs::is_symlink(folder.path("deep/second.json")));
  CHECK(read_file(folder.path("deep/target.json")) == "new");
  CHECK(folder.entry_count() == 2);
}

TEST_CASE("file_sink: a link to nothing is where the file is created") {
  const TemporaryFolder folder;
  fs::create_symlink(folder.path("target.json"), folder.path("link.json"));
  write_file(folder.path("link.json"), "new");
  CHECK(fs::is_symlink(folder.path("link.json")));
  CHECK(read_file(folder.path("target.json")) == "new");
}

TEST_CASE("file_sink: a relative name and a very long one work") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file("out.json", "[]");
  write_file(std::string(255, 'n'), "[1]");
  fs::current_path(before);
  CHECK(read_file(folder.path("out.json")) == "[]");
  CHECK(read_file(folder.path(std::string(255, 'n'))) == "[1]");
}

TEST_CASE("file_sink: says why a file cannot be created") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  CHECK(
      error_of(folder.path("missing/out.json")) ==
      fmt::format("{0}/missing/out.json: the directory {0}/missing does not exist; create it first",
                  folder.path()));
  CHECK(error_of(folder.path()) == folder.path() + ": is a directory; name a file in it");
  CHECK(error_of(file + "/out.json") == file + "/out.json: Not a directory");
  CHECK(error_of(folder.path("new/")) == folder.path("new/") + ": names no file");
  CHECK(error_of("") == "the name of the output is empty (an unset variable?)");
  CHECK(error_of("/proc/out.json") ==
        "/proc/out.json: cannot create a file in /proc: No such file or directory");
  fs::create_symlink("loop", folder.path("loop"));
  CHECK(error_of(folder.path("loop")) ==
        folder.path("loop") + ": Too many levels of symbolic links");
}

TEST_CASE("file_sink: a write-protected file is left alone") {
  if (geteuid() == 0) return;  // root may write all
  const TemporaryFolder folder;
  const std::string path = folder.write("out.json", "old");
  chmod(path.c_str(), 0444);
  CHECK(error_of(path) == path + ": Permission denied");
  CHECK(read_file(path) == "old");
}

TEST_CASE("file_sink: devices and pipes are written to directly") {
  write_file("/dev/null", random_bytes(200'000));
  CHECK(fs::is_character_file("/dev/null"));

  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::string received;
  std::thread reader([&] {
    const int descriptor = open(path.c_str(), O_RDONLY);
    received = drain(descriptor);
    close(descriptor);
  });
  const std::string text = random_bytes(300'000);  // more than the pipe holds: short writes
  write_file(path, text);
  reader.join();
  CHECK((received == text));
  CHECK(fs::is_fifo(path));
}

TEST_CASE("file_sink: a full device is an error, at once or at close") {
  CHECK(error_of("/dev/full") == "/dev/full: No space left on device");
  const std::unique_ptr<Sink> sink = open_file_sink("/dev/full");
  CHECK_THROWS_WITH_AS(sink->write(random_bytes(100'000)), "/dev/full: No space left on device",
                       Error);
}

TEST_CASE("file_sink: an error while writing leaves the old file and no other") {
  const TemporaryFolder folder;
  const std::string path = folder.write("out.json", "old");
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  {
    const std::unique_ptr<Sink> sink = open_file_sink(path);
    const rlimit small{100'000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string message = path + ": File too large";
    CHECK_THROWS_WITH_AS(sink->write(random_bytes(200'000)), message.c_str(), Error);
    setrlimit(RLIMIT_FSIZE, &before);
  }
  std::signal(SIGXFSZ, handler);
  CHECK(read_file(path) == "old");
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("file_sink: stdout is written to and stays open") {
  const TemporaryFolder folder;
  const std::string path = folder.write("stdout", "");
  {
    const ReplacedStream replaced(STDOUT_FILENO, open(path.c_str(), O_WRONLY));
    write_file("-", "first ");
    write_file("-", "second");
  }
  CHECK(read_file(path) == "first second");
}

TEST_CASE("file_sink: complete() leaves nothing but the new name to close()") {
  const TemporaryFolder folder;
  const std::string path = folder.write("out.json", "old");
  const std::unique_ptr<Sink> sink = open_file_sink(path);
  sink->write("new");
  sink->complete();
  CHECK(read_file(path) == "old");
  CHECK(read_file(folder.path(fmt::format(".out.json.traceloom-{}.tmp", getpid()))) == "new");
  sink->close();
  CHECK(read_file(path) == "new");
  CHECK(folder.entry_count() == 1);
  const std::unique_ptr<Sink> full = open_file_sink("/dev/full");
  full->write("x");
  CHECK_THROWS_WITH_AS(full->complete(), "/dev/full: No space left on device", Error);
}

TEST_CASE("file_sink: work with another answer goes on when the reader of stdout is gone") {
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  {
    const ReplacedStream replaced(STDOUT_FILENO, ends[1]);
    const std::unique_ptr<Sink> sink = open_file_sink("-", {.outlives_reader = true});
    sink->write(random_bytes(200'000));
    sink->write("more");
    sink->close();
  }
  std::signal(SIGPIPE, handler);
}

TEST_CASE("file_sink: a closed stdout is a ClosedPipe, a closed named pipe an Error") {
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  const std::string named = fmt::format("/dev/fd/{}", ends[1]);
  CHECK(error_of(named) == named + ": Broken pipe");
  bool closed = false;
  {
    const ReplacedStream replaced(STDOUT_FILENO, ends[1]);
    try {
      write_file("-", "nobody reads this");
    } catch (const ClosedPipe&) {
      closed = true;
    }
  }
  CHECK(closed);
  std::signal(SIGPIPE, handler);
}

TEST_CASE("file_sink: a full stdout is an error called stdout") {
  std::string message;
  {
    const ReplacedStream replaced(STDOUT_FILENO, open("/dev/full", O_WRONLY));
    message = error_of("-");
  }
  CHECK(message == "stdout: No space left on device");
}

TEST_CASE("file_sink: remove_temporary_files() removes what is being written, and nothing else") {
  const TemporaryFolder folder;
  folder.write("old.json", "old");
  write_file(folder.path("done.json"), "done");
  {
    const std::unique_ptr<Sink> one = open_file_sink(folder.path("old.json"));
    const std::unique_ptr<Sink> two = open_file_sink(folder.path("new.json"));
    one->write("never seen");
    CHECK(folder.entry_count() == 4);
    remove_temporary_files();
    CHECK(folder.entry_count() == 2);
    const std::string message = folder.path("new.json") + ": No such file or directory";
    CHECK_THROWS_WITH_AS(two->close(), message.c_str(), Error);
  }
  remove_temporary_files();
  CHECK(read_file(folder.path("old.json")) == "old");
  CHECK(read_file(folder.path("done.json")) == "done");
  CHECK(folder.entry_count() == 2);
}

TEST_CASE("temporary_files: more than there is room for are written all the same") {
  const TemporaryFolder folder;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Sink>> sinks;
    for (int i = 0; i < 100; ++i)
      sinks.push_back(open_file_sink(folder.path(fmt::format("{}", i))));
    for (const std::unique_ptr<Sink>& sink : sinks) sink->close();
  }
  CHECK(folder.entry_count() == 100);
}

TEST_CASE("temporary_files: a forgotten file stays, a slot is used again") {
  const TemporaryFolder folder;
  const std::string kept = folder.write("kept", "");
  for (int i = 0; i < 200; ++i) const TemporaryFileEntry entry(kept);
  const std::string removed = folder.write("removed", "");
  const TemporaryFileEntry entry(removed);
  errno = 1234;
  remove_temporary_files();
  CHECK(errno == 1234);
  CHECK(fs::exists(kept));
  CHECK_FALSE(fs::exists(removed));
}

TEST_CASE("file_sink: folder_written_to() is that of the file that links lead to") {
  CHECK(folder_written_to("merged.tar") == ".");
  CHECK(folder_written_to("out/merged.tar") == "out");
  CHECK(folder_written_to("/merged.tar") == "/");
  const TemporaryFolder folder;
  fs::create_symlink("there/merged.tar", folder.path("link.tar"));
  CHECK(folder_written_to(folder.path("link.tar")) == folder.path("there"));
}
