// Digest files: what is written is read again, and nothing else is.
#include "base/problems.h"
#include "digest/block.h"
#include "digest/frames.h"
#include "digest/write/write_digest.h"
#include "input/digest_source.h"
#include "input/open.h"
#include "support/gzip_text.h"
#include "support/memory_sink.h"
#include "support/memory_source.h"
#include "support/random_text.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

namespace {

std::string digest_of(const std::string& path, unsigned threads = 1) {
  std::string bytes;
  MemorySink sink(bytes);
  write_digest(path, sink, threads);
  return bytes;
}

std::string text_of(const std::string& digest, unsigned threads = 1) {
  DigestSource source(std::make_unique<MemorySource>(digest), "a.digest", threads);
  return read_all(source, 1000);
}

// Returns the message of the Error, or "" if there is none.
std::string refusal_of(const std::string& digest) {
  try {
    text_of(digest);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("write_digest: several blocks, whatever the threads") {
  const TemporaryFolder folder;
  const std::string text = random_trace_text(2 * digest::kMostBlockBytes + 12345);
  const std::string digest = digest_of(folder.write("a.json", text));
  CHECK((digest_of(folder.path("a.json"), 3) == digest));
  CHECK((text_of(digest) == text));
  CHECK((text_of(digest, 3) == text));
}

TEST_CASE("write_digest: text that has no place to be cut") {
  const TemporaryFolder folder;
  const std::string text(2 * digest::kMostBlockBytes + 1, 'x');
  CHECK((text_of(digest_of(folder.write("a.json", text))) == text));
}

TEST_CASE("open_input: a digest gives the text of its trace, packed or not") {
  const TemporaryFolder folder;
  const std::string text = random_trace_text(50'000);
  for (const std::string& stored : {text, gzip(text)}) {
    const std::string digest = digest_of(folder.write("a.json", stored));
    const auto source = open_input(folder.write("a.digest", digest));
    CHECK((read_all(*source) == text));
    CHECK(source->problems().empty());
    CHECK(source->stored_size() == digest.size());
  }
}

TEST_CASE("write_digest: the damage of a packed trace is kept with what could be read") {
  const TemporaryFolder folder;
  std::string packed = gzip(random_trace_text(50'000));
  packed.resize(packed.size() / 2);
  const auto trace = open_input(folder.write("a.json.gz", packed));
  const std::string text = read_all(*trace);
  const std::string digest = digest_of(folder.path("a.json.gz"));
  const auto source = open_input(folder.write("a.digest", digest));
  CHECK((read_all(*source) == text));
  CHECK(source->problems().kinds() == std::vector<Problem>{Problem::gzip_cut});
  CHECK(source->problems().first_offset(Problem::gzip_cut) ==
        trace->problems().first_offset(Problem::gzip_cut));
}

TEST_CASE("write_digest: a digest has no digest") {
  const TemporaryFolder folder;
  folder.write("a.digest", digest_of(folder.write("a.json", "[]")));
  CHECK_THROWS_WITH_AS(digest_of(folder.path("a.digest")),
                       (folder.path("a.digest") + ": is a digest already; copy it").c_str(), Error);
}

TEST_CASE("DigestSource: every flipped bit is an Error with file and byte") {
  const TemporaryFolder folder;
  const std::string digest = digest_of(folder.write("a.json", random_trace_text(400)));
  CHECK(refusal_of(digest).empty());
  // A file without the magic is no digest, so its reader is not asked.
  for (std::size_t byte = digest::kMagic.size(); byte < digest.size(); ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = digest;
      broken[byte] = static_cast<char>(broken[byte] ^ (1 << bit));
      const std::string refusal = refusal_of(broken);
      CAPTURE(byte);
      CHECK(refusal.starts_with("a.digest: byte "));
    }
}

TEST_CASE("DigestSource: every cut is an Error with file and byte") {
  const TemporaryFolder folder;
  const std::string digest = digest_of(folder.write("a.json", random_trace_text(400)));
  for (std::size_t size = 0; size < digest.size(); ++size) {
    CAPTURE(size);
    CHECK(refusal_of(digest.substr(0, size)) ==
          "a.digest: byte " + std::to_string(size) + ": the digest is cut here; write it again");
  }
}

TEST_CASE("DigestSource: messages") {
  const TemporaryFolder folder;
  const std::string digest = digest_of(folder.write("a.json", "[]"));
  CHECK(refusal_of(digest + "x") ==
        "a.digest: byte " + std::to_string(digest.size()) +
            ": more follows after the end of the digest; write it again");
  std::string newer = digest;
  newer[digest::kMagic.size()] = 77;
  CHECK(refusal_of(newer) ==
        "a.digest: byte 8: the digest has version 77 and this program reads version 2; write it "
        "again from the trace");
  std::string flipped = digest;
  flipped.back() ^= 1;
  CHECK(refusal_of(flipped).ends_with(
      ": the digest is damaged in the part that begins here; write it again"));
}

TEST_CASE("DigestSource: whole frames in another order, left out or twice") {
  const std::string start = digest::digest_start({.name = "a.json", .stored_bytes = 4});
  const std::string block = digest::frame(digest::FrameKind::block, digest::encode_block("[1,2"));
  const std::string other = digest::frame(digest::FrameKind::block, digest::encode_block("]"));
  digest::TextHash hash;
  hash.add("[1,2]");
  const std::string end =
      digest::frame(digest::FrameKind::end, digest::end_payload({5, hash.value(), {}}));
  CHECK(text_of(start + block + other + end) == "[1,2]");
  for (const std::string& broken :
       {start + other + block + end, start + block + end, start + block + block + other + end,
        start + block + start.substr(digest::kStartBytes) + other + end, start + end})
    CHECK(refusal_of(broken).starts_with("a.digest: byte "));
}

TEST_CASE("name_in_digest: the trace's path as it was given") {
  const TemporaryFolder folder;
  const std::string trace = folder.write("rank3.json", "[]");
  std::string digest = digest_of(trace);
  CHECK(name_in_digest(folder.write("a.digest", digest)) == trace);
  CHECK(is_digest_file(folder.path("a.digest")));
  CHECK(!name_in_digest(trace));
  CHECK(!name_in_digest(folder.path("missing")));
  CHECK(!name_in_digest(folder.path()));
  digest[digest::kStartBytes + digest::kFrameHeaderBytes + 2] ^= 1;
  CHECK(!name_in_digest(folder.write("b.digest", digest)));
}

TEST_CASE("expand_inputs: a digest goes by the name of its trace") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("digests"));
  for (const auto& [trace, name] : {std::pair{"rank10.json", "a"}, std::pair{"rank2.json", "b"}})
    folder.write(std::string("digests/") + name + ".digest", digest_of(folder.write(trace, "[]")));
  const std::vector<Input> inputs = expand_inputs({folder.path("digests")});
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].path == folder.path("rank2.json"));
  CHECK(inputs[0].file() == folder.path("digests/b.digest"));
  CHECK(inputs[1].path == folder.path("rank10.json"));
  CHECK(is_input(inputs, folder.path("digests/a.digest")));
  CHECK(!is_input(inputs, folder.path("rank10.json")));
}

TEST_CASE("expand_inputs: digests that would have one name have their own") {
  const TemporaryFolder folder;
  const std::string trace = folder.write("run/rank0.json", "[]");
  folder.write("run/rank0.digest", digest_of(trace));
  const std::vector<Input> inputs = expand_inputs({folder.path("run")});
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].path == folder.path("run/rank0.digest"));
  CHECK(inputs[0].file() == folder.path("run/rank0.digest"));
  CHECK(inputs[1].path == trace);
}

TEST_CASE("digest_targets: the way from the folder stays, and two traces have two digests") {
  const TemporaryFolder folder;
  for (const char* name : {"run/node0/rank0.json", "run/node1/rank0.json.gz", "b.json"})
    folder.write(name, "[]");
  const std::vector<std::string> arguments{folder.path("run"), folder.path("b.json")};
  CHECK(digest_targets(expand_inputs(arguments), arguments, "out") ==
        std::vector<std::string>{"out/run/node0/rank0.digest", "out/run/node1/rank0.digest",
                                 "out/b.digest"});
  for (const char* end : {"", "/"}) {
    const std::vector<std::string> one{folder.path("run") + end};
    CHECK(digest_targets(expand_inputs(one), one, "out/") ==
          std::vector<std::string>{"out/node0/rank0.digest", "out/node1/rank0.digest"});
  }
  folder.write("run/node1/rank0.json", "[]");
  CHECK_THROWS_WITH_AS(
      digest_targets(expand_inputs(arguments), arguments, "out"),
      (folder.path("run/node1/rank0.json") + " and " + folder.path("run/node1/rank0.json.gz") +
       " would have the same digest, out/run/node1/rank0.digest; write them to two folders")
          .c_str(),
      UsageError);
  CHECK(digest_name("a.pt.trace.json.gz") == "a.pt.trace.digest");
  CHECK(digest_name("node_trace.1.log") == "node_trace.1.digest");
}
