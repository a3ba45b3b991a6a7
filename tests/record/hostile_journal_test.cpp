// These tests write false journals. Journals lie where everybody may write, and what one says must
// not destroy a file.
#include "record/dead_journals.h"
#include "record/journal/recover.h"
#include "record/recorded.h"
#include "record/support/process_support.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace traceloom;
using namespace traceloom::record;

namespace {

namespace fs = std::filesystem;

constexpr const char* kPrecious = "root:x:0:0:root:/root:/bin/bash\n";

record::FileState state_of(const std::string& path, std::uint64_t bytes) {
  record::FileState state;
  state.bytes = state.text_bytes = bytes;
  state.inode = inode_of(path);
  return state;
}

// Recovers the only journal in the folder, and returns what became of it.
RecoveredTrace recover_one(const std::string& folder, const std::vector<std::string>& named) {
  const std::vector<RecoveredTrace> recovered = recover_journals(folder, named);
  REQUIRE(recovered.size() == 1);
  return recovered[0];
}

// Checks that the journal with that problem is as it was, and so is the file.
void check_left(const TemporaryFolder& folder, const std::string& journal,
                const std::string& precious, const std::string& problem) {
  const std::string before = read_file(journal);
  const RecoveredTrace result = recover_one(folder.path(), {folder.path()});
  CHECK(result.path == "");
  CHECK(result.problem == problem);
  CHECK(result.events == 0);
  REQUIRE(fs::exists(journal));
  CHECK(read_file(journal) == before);
  CHECK(read_file(precious) == kPrecious);
}

}  // namespace

TEST_CASE("hostile journal: one of another user is not even opened, and told as theirs") {
  const TemporaryFolder folder;
  const std::string trace = folder.write("ep0-ba0-rank0.unfinished.json", kPrecious);
  const std::string journal = leave_journal({folder.path(), trace, state_of(trace, 4)});
  const unsigned other = geteuid() + 1;
  if (chown(journal.c_str(), other, static_cast<gid_t>(-1)) != 0) {
    MESSAGE("skipped: only root may give files away");
    return;
  }
  check_left(folder, journal, trace,
             "belongs to user " + std::to_string(other) + ", and this is user " +
                 std::to_string(geteuid()));
  CHECK(recover_one(folder.path(), {folder.path()}).is_foreign);
  // A session that begins there does not open it either.
  Options options = options_for(folder);
  options.journal_folder = folder.path();
  std::vector<std::string> log;
  options.log = [&](const std::string& line) { log.push_back(line); };
  Session(options).close();
  REQUIRE(log.size() == 1);
  CHECK(log[0] == journal + ": is left alone: belongs to user " + std::to_string(other) +
                      ", and this is user " + std::to_string(geteuid()));
  CHECK(read_file(trace) == kPrecious);
  CHECK(fs::exists(journal));
}

TEST_CASE("hostile journal: a link, a second name, a pipe, and one that others may write") {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  const std::string trace = folder.write("ep0-ba0-rank0.unfinished.json", kPrecious);
  const std::string real = leave_journal({elsewhere.path(), trace, state_of(trace, 4)});
  const std::string journal = folder.path("traceloom-rank0-1.journal");
  SUBCASE("link") {
    fs::create_symlink(real, journal);
    check_left(folder, journal, trace, "is a link, and links are not followed");
  }
  SUBCASE("link to nothing") {
    fs::create_symlink("nowhere", journal);
    const RecoveredTrace result = recover_one(folder.path(), {folder.path()});
    CHECK(result.problem == "is a link, and links are not followed");
    CHECK(result.is_foreign);
  }
  SUBCASE("second name") {
    fs::create_hard_link(real, journal);
    check_left(folder, journal, trace,
               "has a second name (a hard link), so that it may be any file");
  }
  SUBCASE("others may write") {
    fs::rename(real, journal);
    REQUIRE(chmod(journal.c_str(), 0622) == 0);
    check_left(folder, journal, trace,
               "can be written to by other users, so that what it says is not believed");
  }
  SUBCASE("pipe") {
    REQUIRE(mkfifo(journal.c_str(), 0600) == 0);
    CHECK(recover_one(folder.path(), {folder.path()}).problem == "is no regular file");
  }
}

TEST_CASE("hostile journal: a file that has not the name of an unfinished trace is left") {
  const TemporaryFolder folder;
  const std::string passwd = folder.write("passwd", kPrecious);
  const std::string journal = leave_journal({folder.path(), passwd, state_of(passwd, 4)});
  check_left(
      folder, journal, passwd,
      "is about " + passwd + ", which is not the name of an unfinished trace; it stays as it is");
}

TEST_CASE("hostile journal: a trace in a folder that was not named is left") {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  const std::string trace = other.write("ep0-ba0-rank0.unfinished.json", kPrecious);
  const auto problem_in = [&](const std::string& told) {
    return "its trace is in " + told +
           ", which is no folder that was named; trace-merge --recover " + folder.path() + " " +
           told + " completes it";
  };
  SUBCASE("elsewhere") {
    const std::string journal = leave_journal({folder.path(), trace, state_of(trace, 4)});
    check_left(folder, journal, trace, problem_in(other.path()));
    CHECK(recover_one(folder.path(), {folder.path(), other.path()}).problem == "");
  }
  SUBCASE("through a link in a named folder") {
    fs::create_directory_symlink(other.path(), folder.path("traces"));
    const std::string told = folder.path("traces/ep0-ba0-rank0.unfinished.json");
    const std::string journal = leave_journal({folder.path(), told, state_of(trace, 4)});
    check_left(folder, journal, trace, problem_in(folder.path("traces")));
  }
  SUBCASE("beside a named folder that begins alike") {
    const std::string beside = folder.path() + "-beside";
    fs::create_directory(beside);
    const std::string told = beside + "/ep0-ba0-rank0.unfinished.json";
    const std::string journal = leave_journal({folder.path(), told});
    check_left(folder, journal, trace, problem_in(beside));
    fs::remove_all(beside);
  }
}

TEST_CASE("hostile journal: a trace that is a link, of another user or has a second name is left") {
  const TemporaryFolder folder;
  const TemporaryFolder other;
  const std::string precious = other.write("passwd", kPrecious);
  const std::string trace = folder.path("ep0-ba0-rank0.unfinished.json");
  SUBCASE("link") {
    fs::create_symlink(precious, trace);
    const std::string journal = leave_journal({folder.path(), trace, state_of(precious, 4)});
    check_left(folder, journal, precious, trace + ": is a link, and links are not followed");
  }
  SUBCASE("second name") {
    fs::create_hard_link(precious, trace);
    const std::string journal = leave_journal({folder.path(), trace, state_of(precious, 4)});
    check_left(folder, journal, precious,
               trace + ": has a second name (a hard link), so that it may be any file");
  }
  SUBCASE("of another user") {
    fs::copy(precious, trace);
    const std::string journal = leave_journal({folder.path(), trace, state_of(trace, 4)});
    if (chown(trace.c_str(), geteuid() + 1, static_cast<gid_t>(-1)) != 0) {
      MESSAGE("skipped: only root may give files away");
      return;
    }
    check_left(folder, journal, trace,
               trace + ": belongs to user " + std::to_string(geteuid() + 1) +
                   ", and this is user " + std::to_string(geteuid()));
  }
  SUBCASE("shorter than what was written") {
    fs::copy(precious, trace);
    const std::string journal = leave_journal({folder.path(), trace, state_of(trace, 4000)});
    check_left(folder, journal, trace, trace + ": has 32 bytes, and 4000 were written");
  }
}

TEST_CASE("journal: one of another version, or a byte short or long, is kept and told") {
  const TemporaryFolder folder;
  const std::string trace = folder.path("ep0-ba0-rank0.unfinished.json");
  const std::string journal = leave_journal({folder.path(), trace});
  const std::uint64_t whole = fs::file_size(journal);
  const auto problem_after = [&](const auto& change) {
    const std::string bytes = read_file(journal);
    change();
    const RecoveredTrace result = recover_one(folder.path(), {folder.path()});
    CHECK(result.path == "");
    REQUIRE(fs::exists(journal));
    std::ofstream(journal, std::ios::binary) << bytes;
    return result.problem;
  };
  const auto overwrite = [&](std::size_t at, const std::string& text) {
    std::fstream file(journal, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
  };
  const std::string sizes = std::to_string(whole) + "; it stays as it is";
  CHECK(problem_after([&] { fs::resize_file(journal, whole - 1); }) ==
        "is cut: a journal has " + std::to_string(whole) + " bytes or more, and this one " +
            std::to_string(whole - 1) + "; it stays as it is");
  CHECK(problem_after([&] { fs::resize_file(journal, whole + 1); }) ==
        "is damaged: it has " + std::to_string(whole + 1) + " bytes and should have " + sizes);
  CHECK(problem_after([&] { overwrite(6, "02"); }) ==
        "was written by another version of the recorder; it stays as it is: recover it with that "
        "version");
  CHECK(problem_after([&] { overwrite(0, "its events"); }) ==
        "is no journal, or a damaged one; it stays as it is");
  CHECK(problem_after([&] { fs::resize_file(journal, 3); }) == "is no journal; it stays as it is");
  // The end of such chunks, 2^64 wrapped around, lies in the file.
  const std::uint64_t count = (std::uint64_t{1} << 48) + 1;
  const std::string wrapped(reinterpret_cast<const char*>(&count), sizeof count);
  CHECK(problem_after([&] { overwrite(offsetof(JournalLayout, chunk_count), wrapped); }) ==
        "is damaged: where its events lie cannot be; it stays as it is");
  const std::uint64_t back = std::uint64_t{0} - record::detail::kChunkBytes;
  const std::string before(reinterpret_cast<const char*>(&back), sizeof back);
  CHECK(problem_after([&] { overwrite(offsetof(JournalLayout, chunk_offset), before); }) ==
        "is damaged: where its events lie cannot be; it stays as it is");
  // Without the damage the journal can be used. Its process may have died while the file grew.
  fs::resize_file(journal, whole + record::detail::kChunkBytes);
  const RecoveredTrace result = recover_one(folder.path(), {folder.path()});
  CHECK(result.problem == "");
  CHECK(result.events == 11);
  CHECK_FALSE(fs::exists(journal));
  CHECK(Events::of_file(result.path).count("work", "X") == 10);
}

TEST_CASE("journal: what a process did not live to fill is taken away without a word") {
  const TemporaryFolder folder;
  const std::string journal = folder.path("traceloom-rank0-1.journal");
  for (const std::uintmax_t bytes : {0, 1, 4096, 2 << 20}) {
    CAPTURE(bytes);
    std::ofstream(journal).close();
    fs::resize_file(journal, bytes);
    CHECK(recover_journals(folder.path(), {folder.path()}).empty());
    CHECK_FALSE(fs::exists(journal));
  }
}
