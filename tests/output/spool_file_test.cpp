#include "base/problems.h"
#include "output/sink.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/resource.h>

using namespace traceloom;

namespace {

std::string all_of(const SpoolFile& spool) {
  std::string text;
  spool.for_each_piece([&](std::string_view piece) { text.append(piece); });
  return text;
}

}  // namespace

TEST_CASE("spool_file: gives back what was written, in order, however much it is") {
  const TemporaryFolder folder;
  SpoolFile spool(folder.path("out.tar"));
  const std::unique_ptr<Sink> sink = spool.open_sink();
  std::string wanted;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece = std::to_string(i) + std::string(997, '-');
    sink->write(piece);
    wanted += piece;
  }
  sink->close();
  CHECK(spool.size() == wanted.size());
  CHECK((all_of(spool) == wanted));
}

TEST_CASE("spool_file: is empty at first") {
  const TemporaryFolder folder;
  CHECK(all_of(SpoolFile(folder.path("out.tar"))) == "");
}

TEST_CASE("spool_file: has no name, neither beside the output nor in the temporary folder") {
  const TemporaryFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  for (const std::string& output : {folder.path("out.tar"), std::string("-")}) {
    SpoolFile spool(output);
    spool.open_sink()->write("text");
    CHECK(folder.entry_count() == 0);
  }
  unsetenv("TMPDIR");
}

TEST_CASE("spool_file: says for which output there is no room") {
  const TemporaryFolder folder;
  const std::string missing = folder.path("missing/out.tar");
  CHECK_THROWS_WITH_AS(SpoolFile{missing},
                       ("temporary file for " + missing + ": No such file or directory").c_str(),
                       Error);
  const std::string output = folder.path("out.tar");
  SpoolFile spool(output);
  struct rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_WITH_AS(spool.open_sink()->write(std::string(2000, 'x')),
                       ("temporary file for " + output + ": File too large").c_str(), Error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}
