// The temporary file of an output: its permissions, and the removal of those of killed runs.
#include "output/file_sink.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

std::string temporary_of(const TemporaryFolder& folder, pid_t pid) {
  return folder.path(fmt::format(".out.json.traceloom-{}.tmp", pid));
}

// Returns the file that a process leaves if it is killed while it writes.
std::string left_by_killed_process(const TemporaryFolder& folder) {
  const pid_t child = start_child([&] {
    const std::unique_ptr<Sink> sink = open_file_sink(folder.path("out.json"));
    sink->write("half of a ");
    kill(getpid(), SIGKILL);
  });
  REQUIRE(WIFSIGNALED(wait_for(child)));
  return temporary_of(folder, child);
}

void write_output(const TemporaryFolder& folder) {
  const std::unique_ptr<Sink> sink = open_file_sink(folder.path("out.json"));
  sink->write("new");
  sink->close();
}

struct UmaskWhile {
  explicit UmaskWhile(mode_t mask) : before(umask(mask)) {}
  ~UmaskWhile() { umask(before); }
  mode_t before;
};

// True if the mode of a file in the folder was changed while `work` ran.
template <typename Work>
bool changes_modes(const TemporaryFolder& folder, const Work& work) {
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  REQUIRE(inotify_add_watch(watch, folder.path().c_str(), IN_ATTRIB) >= 0);
  work();
  char events[4096];
  const bool changed = read(watch, events, sizeof events) > 0;
  close(watch);
  return changed;
}

}  // namespace

TEST_CASE("replacement: a private file is private from its first moment") {
  const TemporaryFolder folder;
  const UmaskWhile mask(022);
  const std::string target = folder.write("out.json", "old");
  fs::permissions(target, fs::perms(0600));
  CHECK_FALSE(changes_modes(folder, [&] {
    const Replacement replacement(target, target, 0600);
    struct stat status = {};
    REQUIRE(fstat(replacement.descriptor(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0600);
  }));
}

TEST_CASE("replacement: what the umask takes away is given back") {
  const TemporaryFolder folder;
  const UmaskWhile mask(077);
  const Replacement replacement(folder.path("out.json"), folder.path("out.json"), 0664);
  struct stat status = {};
  REQUIRE(fstat(replacement.descriptor(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0664);
}

TEST_CASE("replacement: what a killed process left goes away when the same output is written") {
  const TemporaryFolder folder;
  const std::string left = left_by_killed_process(folder);
  CHECK(fs::exists(left));
  open_file_sink(folder.path("other.json"))->close();
  CHECK(fs::exists(left));
  write_output(folder);
  CHECK_FALSE(fs::exists(left));
  CHECK(folder.entry_count() == 2);
}

TEST_CASE("replacement: a file that somebody still writes stays") {
  const TemporaryFolder folder;
  const std::unique_ptr<Sink> first = open_file_sink(folder.path("out.json"));
  first->write("first");
  const std::unique_ptr<Sink> second = open_file_sink(folder.path("out.json"));
  second->write("second");
  CHECK(folder.entry_count() == 2);
  first->close();
  second->complete();  // its descriptor is closed, and its lock is not
  write_output(folder);
  second->close();
  CHECK(read_file(folder.path("out.json")) == "second");
  CHECK(folder.entry_count() == 1);
}

TEST_CASE("replacement: a file of another process with the same id is passed over") {
  const TemporaryFolder folder;
  const std::string taken = temporary_of(folder, getpid());
  folder.write(fs::path(taken).filename().string(), "of another container");
  const int lock = open(taken.c_str(), O_RDONLY);
  REQUIRE(flock(lock, LOCK_EX) == 0);
  write_output(folder);
  CHECK(read_file(taken) == "of another container");
  CHECK(read_file(folder.path("out.json")) == "new");
  close(lock);
}

TEST_CASE("replacement: nothing goes away that is not a left over file of this output") {
  const TemporaryFolder folder;
  const std::vector<std::string> others{".out.json.tmp",
                                        ".out.json.4711.tmp",
                                        ".out.json.traceloom-.tmp",
                                        ".out.json.traceloom-x.tmp",
                                        ".out.json.traceloom-4711.tmp~",
                                        "out.json.traceloom-4711.tmp",
                                        ".out.json2.traceloom-4711.tmp"};
  for (const std::string& name : others) folder.write(name, "mine");
  folder.write("kept", "mine");
  fs::create_symlink("kept", folder.path(".out.json.traceloom-1.tmp"));
  fs::create_directory(folder.path(".out.json.traceloom-2.tmp"));
  REQUIRE(mkfifo(folder.path(".out.json.traceloom-3.tmp").c_str(), 0600) == 0);
  const std::size_t before = folder.entry_count();
  write_output(folder);
  CHECK(folder.entry_count() == before + 1);
  CHECK(read_file(folder.path("kept")) == "mine");
}
