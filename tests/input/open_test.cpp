#include "base/problems.h"
#include "input/byte_source.h"
#include "support/gzip_text.h"
#include "support/memory_source.h"
#include "support/random_text.h"
#include "support/standard_stream.h"
#include "support/temporary_folder.h"
#include "support/zstd_text.h"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

using namespace traceloom;
using namespace std::string_literals;

namespace {

std::string text_of(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_input(path);
  const std::string text = read_all(*source, 100);
  CHECK(source->problems().empty());
  return text;
}

// The Error's message without the path.
std::string refusal_of(const std::string& data) {
  const TemporaryFolder folder;
  const std::string path = folder.write("rank0.json", data);
  try {
    open_input(path);
  } catch (const Error& error) {
    CHECK(error.path() == path);
    return error.problem();
  }
  return "accepted";
}

// Returns the header of a tar archive with one file, which is enough to recognise it.
std::string tar_header() {
  std::string header(512, '\0');
  header.replace(0, 10, "rank0.json");
  header.replace(257, 5, "ustar");
  return header;
}

}  // namespace

TEST_CASE("open: gives text as it is, whatever the name says") {
  const TemporaryFolder folder;
  for (const std::string& text :
       {"["s, "[]"s, "\n\n [{}]"s, "\xef\xbb\xbf[]"s, random_trace_text(511),
        random_trace_text(512), random_trace_text(513), random_trace_text(100'000)}) {
    CHECK((text_of(folder.write("plain.json.gz", text)) == text));
    CHECK((text_of(folder.write("gzip.json", gzip(text))) == text));
  }
}

TEST_CASE("open: leaves to the scanner what may be JSON") {
  const TemporaryFolder folder;
  for (const std::string& text :
       {"  \n"s, "\n"s, "\n["s, "\n{\"a\":1}"s, "\n\n"s, "\n 1"s, "7\n"s, "\"PK\""s,
        "rank 0: loss"s, "[\"\0\1\"]"s, "[{\"name\":\"<html>\"}]"s, "\r\n[]"s, "BZ"s})
    CHECK(text_of(folder.write("a.json", text)) == text);
}

TEST_CASE("open: unpacks what is packed twice and says so") {
  const TemporaryFolder folder;
  const std::string text = random_trace_text(50'000);
  const std::unique_ptr<ByteSource> source = open_input(folder.write("a.gz", gzip(gzip(text))));
  CHECK((read_all(*source) == text));
  CHECK(source->problems().kinds() == std::vector<Problem>{Problem::packed_twice});
  CHECK(source->problems().count(Problem::packed_twice) == 1);
  CHECK(source->problems().first_offset(Problem::packed_twice) == 0);
  CHECK(refusal_of(gzip(gzip(gzip(text)))) ==
        "is compressed more than twice; unpack it first (gzip -d, zstd -d)");
  CHECK(refusal_of(zstd_frame(gzip(zstd_frame(text)))) ==
        "is compressed more than twice; unpack it first (gzip -d, zstd -d)");
  for (const std::string& data : {zstd_frame(gzip(text)), gzip(zstd_frame(text))}) {
    const std::unique_ptr<ByteSource> mixed = open_input(folder.write("b.json", data));
    CHECK((read_all(*mixed) == text));
    CHECK(mixed->problems().kinds() == std::vector<Problem>{Problem::packed_twice});
  }
  CHECK(refusal_of(zstd_frame("PK\3\4rest")) ==
        "is a zip archive, packed by zstd; unpack it first (unzip)");
}

TEST_CASE("open: passes on what is wrong with the gzip data") {
  const TemporaryFolder folder;
  const std::string data = gzip(random_bytes(50'000));
  const std::unique_ptr<ByteSource> source =
      open_input(folder.write("a.json.gz", data.substr(0, 20'000)));
  const std::size_t size = read_all(*source).size();
  CHECK(size > 15'000);
  CHECK(source->problems().kinds() == std::vector<Problem>{Problem::gzip_cut});
  CHECK(source->problems().first_offset(Problem::gzip_cut) == size);
}

TEST_CASE("open: the progress is that of the file") {
  const TemporaryFolder folder;
  const std::string data = gzip(gzip(random_bytes(50'000)));
  const std::unique_ptr<ByteSource> source = open_input(folder.write("a.gz", data));
  CHECK(source->stored_size() == data.size());
  read_all(*source);
  CHECK(source->stored_bytes_read() == data.size());
}

TEST_CASE("open: reads stdin, packed or not") {
  for (const std::string& data : {"[1]"s, gzip("[1]"), zstd_frame("[1]")}) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const ReplacedStream replaced(STDIN_FILENO, ends[0]);
    REQUIRE(write(ends[1], data.data(), data.size()) == static_cast<ssize_t>(data.size()));
    close(ends[1]);
    CHECK(text_of("-") == "[1]");
  }
}

TEST_CASE("open: an empty input is an error that says why it is empty") {
  CHECK(refusal_of("") == "the file is empty");
  CHECK(refusal_of(gzip("")) == "the file is empty (gzip of nothing)");
  CHECK(refusal_of(gzip("") + gzip("")) == "the file is empty (gzip of nothing)");
  CHECK(refusal_of(gzip("[]").substr(0, 6)) ==
        "the gzip data is cut off before its first byte of text; copy or record the file again");
  CHECK(refusal_of("\x1f\x8b\x09reserved") ==
        "the gzip data is damaged at its start; copy or record the file again");
  CHECK(refusal_of(zstd_frame("")) == "the file is empty (zstd of nothing)");
  CHECK(refusal_of(zstd_frame("[]").substr(0, 6)) ==
        "the zstd data is cut off before its first byte of text; copy or record the file again");
  CHECK(refusal_of("\x28\xb5\x2f\xfd\x08 is reserved") ==
        "the zstd data is damaged at its start; copy or record the file again");
  const ReplacedStream replaced(STDIN_FILENO, open("/dev/null", O_RDONLY));
  CHECK_THROWS_WITH_AS(open_input("-"), "stdin: the file is empty", Error);
}

TEST_CASE("open: names what is no JSON text, and the way out") {
  CHECK(refusal_of("PK\3\4rest") == "is a zip archive; unpack it first (unzip)");
  CHECK(refusal_of("\x89TLDG\r\n\x1a\2rest") ==
        "is a digest of an older Traceloom; unpack it with that: trace-merge DIGEST -o TRACE.json");
  CHECK(refusal_of("PK\5\6") == "is an empty zip archive; Chrome JSON traces are needed");
  CHECK(refusal_of("\x04\x22\x4d\x18") == "is lz4 compressed; unpack it first (lz4 -d)");
  CHECK(refusal_of("BZh91AY&SY") == "is bzip2 compressed; unpack it first (bzip2 -d)");
  CHECK(refusal_of("\xfd\x37zXZ\0"s) == "is xz compressed; unpack it first (xz -d)");
  CHECK(refusal_of("7z\xbc\xaf\x27\x1c") == "is a 7z archive; unpack it first (7z x)");
  CHECK(refusal_of(tar_header()) == "is a tar archive; unpack it first (tar -xf)");
  CHECK(refusal_of("\x89PNG\r\n\x1a\n") == "is a PNG picture; Chrome JSON traces are needed");
  CHECK(refusal_of("SQLite format 3\0"s) ==
        "is an SQLite database (an nsys export?); Chrome JSON traces are needed");
  CHECK(refusal_of("# tracer: nop\n") == "is ftrace text; Chrome JSON traces are needed");
  CHECK(refusal_of("version https://git-lfs.github.com/spec/v1\noid sha256:0\n") ==
        "is a git-lfs pointer, not the file itself; fetch the file first (git lfs pull)");
  CHECK(
      refusal_of(std::string(4096, '\0')) ==
      "is filled with zero bytes at the start; it was probably never written to the end; record it "
      "again");
}

TEST_CASE("open: names UTF-16 with and without a byte order mark") {
  const std::string expected =
      "is UTF-16 text; convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)";
  CHECK(refusal_of("\xff\xfe[\0]\0"s) == expected);
  CHECK(refusal_of("\xfe\xff\0[\0]"s) == expected);
  CHECK(refusal_of("[\0{\0\"\0"s) == expected);
  CHECK(refusal_of("\0[\0{\0\""s) == expected);
}

TEST_CASE("open: names HTML and XML behind a mark and white space") {
  const std::string expected = "is HTML or XML (a saved error page?); save the trace itself";
  CHECK(refusal_of("<!DOCTYPE html>") == expected);
  CHECK(refusal_of("\xef\xbb\xbf\n  <html>") == expected);
}

TEST_CASE("open: names a binary Perfetto trace, which begins with a line feed as JSON may") {
  const std::string expected =
      "is a binary Perfetto trace; convert it to JSON first (traceconv json)";
  CHECK(refusal_of("\n\x10\x08\x01\x12\x0c"s + "abcdefghijkl") == expected);
  CHECK(refusal_of("\n\xe2\x03\x32\x10\x0a\x04") == expected);  // a length of two bytes
  CHECK(refusal_of("\n\x2e\x50\x01") == expected);
  CHECK(refusal_of("\n[]") == "accepted");
}

TEST_CASE("open: looks behind gzip too") {
  CHECK(refusal_of(gzip(tar_header())) ==
        "is a tar archive, packed by gzip; unpack it first (tar -xf)");
  CHECK(refusal_of(gzip("<html>")) ==
        "is HTML or XML (a saved error page?), packed by gzip; save the trace itself");
}

TEST_CASE("open: a missing file is an error") {
  CHECK_THROWS_WITH_AS(open_input("/nowhere/a.json"), "/nowhere/a.json: No such file or directory",
                       Error);
}

TEST_CASE("open: a pipe without a writer is named as what it is") {
  const TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(is_pipe(path));
  const std::string message =
      path + ": nothing came through the pipe; nobody writes to it, or its writer failed";
  CHECK_THROWS_WITH_AS(open_input(path), message.c_str(), Error);
}

TEST_CASE("open: a small text is read as a whole, packed or not, up to a limit") {
  const TemporaryFolder folder;
  CHECK(read_text(folder.write("a.txt", "step <= 5%\n"), 100) == "step <= 5%\n");
  const std::string long_text(200'000, 'x');
  const std::string packed = folder.write("a.gz", gzip(long_text));
  CHECK(read_text(packed, long_text.size()) == long_text);
  const std::string message = packed + ": has more than 100000 bytes of text";
  CHECK_THROWS_WITH_AS(read_text(packed, 100'000), message.c_str(), Error);
}
