#include "record/journal/journal.h"

#include "record/journal/recover.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <array>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace traceloom;
using namespace traceloom::record;

namespace {

// A process that recovers what is in a folder again and again, as soon as it is constructed.
class Recoverer {
 public:
  explicit Recoverer(const std::string& folder) {
    std::array<int, 2> ends{};
    REQUIRE(pipe(ends.data()) == 0);
    child_ = start_child([&] {
      recover_journals(folder, {folder});
      const ssize_t told = write(ends[1], "x", 1);
      while (told == 1) recover_journals(folder, {folder});
    });
    close(ends[1]);
    char begun = 0;
    CHECK(read(ends[0], &begun, 1) == 1);
    close(ends[0]);
  }
  ~Recoverer() { kill_child(child_); }
  Recoverer(const Recoverer&) = delete;
  Recoverer& operator=(const Recoverer&) = delete;

 private:
  pid_t child_ = 0;
};

}  // namespace

TEST_CASE("journal: one that is being made is none that a recovery deletes") {
  constexpr int kJournals = 100;
  const TemporaryFolder folder;
  const Recoverer one(folder.path());
  const Recoverer other(folder.path());
  traceloom_options options = TRACELOOM_OPTIONS_INIT;
  options.journal_folder = folder.path().c_str();
  options.rank = 0;
  options.pool_bytes = options.max_pool_bytes = detail::kChunkBytes;
  int failed = 0;
  int deleted = 0;
  for (int i = 0; i < kJournals; ++i) {
    try {
      Journal journal(options, {});
      if (inode_of(journal.path()) == 0) ++deleted;
      journal.remove();
    } catch (const std::exception&) {
      ++failed;
    }
  }
  CHECK(failed == 0);
  CHECK(deleted == 0);
}

TEST_CASE("journal: a lock of a file that has been deleted, or replaced, is none") {
  const TemporaryFolder folder;
  const std::string path = folder.path("traceloom-rank0-1.journal");
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(file >= 0);
  CHECK(lock_journal(file, path));
  CHECK(run_child([&] {
          const int again = open(path.c_str(), O_RDWR);
          _exit(lock_journal(again, path) ? 1 : 0);
        }) == 0);
  REQUIRE(unlink(path.c_str()) == 0);
  CHECK_FALSE(lock_journal(file, path));
  const int next = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  REQUIRE(next >= 0);
  CHECK_FALSE(lock_journal(file, path));
  CHECK(lock_journal(next, path));
  close(next);
  close(file);
}
