#include "output/scratch_file.h"

#include "base/error.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace traceloom;

TEST_CASE("scratch_file: gives back any part of what was written, and has no name") {
  const TemporaryFolder folder;
  ScratchFile file(folder.path("."));
  file.write("hello ");
  file.write("world");
  CHECK(file.size() == 11);
  CHECK(folder.entry_count() == 0);
  std::string text(5, ' ');
  file.read(6, text.data(), 5);
  CHECK(text == "world");
  file.write("!");
  ScratchFile moved = std::move(file);
  moved.read(7, text.data(), 5);
  CHECK(text == "orld!");
  CHECK_THROWS_WITH_AS(moved.read(8, text.data(), 5), doctest::Contains("Input/output error"),
                       Error);
}

TEST_CASE("scratch_file: says where it could not be made") {
  CHECK_THROWS_WITH_AS(ScratchFile("/no such folder"),
                       "a temporary file in /no such folder: No such file or directory", Error);
}
