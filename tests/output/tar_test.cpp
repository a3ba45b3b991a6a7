#include "output/sink.h"
#include "support/tar_text.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;
using namespace std::string_literals;

namespace {

std::string archive(const std::string& name, const std::string& text) {
  std::string tar = tar_header(name, text.size());
  tar += text;
  tar += tar_padding(text.size());
  tar += tar_end();
  return tar;
}

}  // namespace

TEST_CASE("tar: a file is its header, its bytes and zeros to the next 512") {
  for (const std::size_t size : {0, 1, 511, 512, 513, 1024}) {
    CAPTURE(size);
    const std::string text(size, 'x');
    const std::vector<TarMember> members = read_tar(archive("rank0.json", text));
    REQUIRE(members.size() == 1);
    CHECK(members[0].name == "rank0.json");
    CHECK((members[0].text == text));
  }
}

TEST_CASE("tar: a header has no time and no owner") {
  const std::string header = tar_header("rank12.json", 1234);
  CHECK(header.substr(0, 12) == "rank12.json\0"s);
  CHECK((header.substr(100, 56) == "0000644\0"s
                                   "0000000\0"s
                                   "0000000\0"s
                                   "00000002322\0"s
                                   "00000000000\0"s
                                   "007735\0 "s));
  CHECK(header.substr(156, 1) == "0");
  CHECK((header.substr(157) == std::string(100, '\0') + "ustar\00000"s + std::string(247, '\0')));
}

TEST_CASE("tar: a name may fill its field") {
  const std::string name(100, 'n');
  CHECK((tar_header(name, 0).substr(0, 108) == name + "0000644\0"s));
}

TEST_CASE("tar: a size from 8 GiB on is written in base 256") {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  CHECK((tar_header("a", 8 * kGiB - 1).substr(124, 12) == "77777777777\0"s));
  CHECK((tar_header("a", 8 * kGiB).substr(124, 12) == "\x80\0\0\0\0\0\0\2\0\0\0\0"s));
  CHECK(tar_number(tar_header("a", 12 * kGiB + 7).substr(124, 12)) == 12 * kGiB + 7);
}
