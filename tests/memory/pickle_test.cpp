#include "memory/pickle.h"

#include "base/problems.h"
#include "support/memory_source.h"
#include "support/pickle_text.h"

#include <doctest/doctest.h>

using namespace traceloom;
using namespace std::string_literals;

namespace {

PickleDocument read_code(const std::string& text) {
  MemorySource source(text);
  return read_pickle(source, "f.pickle");
}

std::string error_of(const std::string& text) try {
  read_code(text);
  return "read";
} catch (const Error& error) {
  return error.what();
}

// The text after the two bytes of the protocol.
std::string error_in(const std::string& code) {
  return error_of("\x80\x04" + code);
}

}  // namespace

TEST_CASE("pickle: values of all kinds") {
  const PickleDocument document = read_code(pickle(dict({
      {"one", 1},
      {"minus", -5},
      {"wide", std::int64_t{1} << 62},
      {"none", PickleCode("N"s)},
      {"true", PickleCode("\x88"s)},
      {"half", PickleCode("G\x3f\xe0\0\0\0\0\0\0"s)},
      {"list", list({1, "a", list({})})},
      {"pair", PickleCode("K\x07K\x08\x86"s)},
      {"address", PickleCode("\x8a\x09\0\0\0\0\0\0\0\x80\0"s)},
      {"large", PickleCode("\x8a\x0a\0\0\0\0\0\0\0\0\0\x01"s)},
  })));
  const PickleValue root = document.root();
  REQUIRE(document.is_dict(root));
  CHECK(document.size(root) == 10);
  const auto of = [&](const char* key) { return document.member(root, key); };
  CHECK(document.integer(of("one")) == 1);
  CHECK(document.integer(of("minus")) == -5);
  CHECK(document.integer(of("wide")) == std::int64_t{1} << 62);
  CHECK(of("none").is_none());
  CHECK(of("nothing").is_none());
  CHECK(document.flag(of("true")) == true);
  CHECK(document.number(of("half")) == 0.5);
  CHECK(document.number(of("one")) == 1.0);
  REQUIRE(document.items(of("list")).size() == 3);
  CHECK(document.text(document.items(of("list"))[1]) == "a");
  REQUIRE(document.items(of("pair")).size() == 2);
  CHECK(document.integer(document.items(of("pair"))[1]) == 8);
  CHECK(document.address(of("address")) == std::uint64_t{1} << 63);
  CHECK_FALSE(document.integer(of("address")).has_value());
  CHECK(document.kind(of("large")) == "a number");
  CHECK_FALSE(document.address(of("large")).has_value());
}

TEST_CASE("pickle: dictionaries and lists grow, and the last value of a key counts") {
  const PickleDocument document = read_code(
      "\x80\x02}q\0(X\1\0\0\0aK\1uX\1\0\0\0bK\2sX\1\0\0\0aK\3sX\1\0\0\0l](K\1eK\2aK\3as."s);
  const PickleValue root = document.root();
  CHECK(document.size(root) == 4);
  CHECK(document.integer(document.member(root, "a")) == 3);
  CHECK(document.integer(document.member(root, "b")) == 2);
  const auto items = document.items(document.member(root, "l"));
  REQUIRE(items.size() == 3);
  CHECK(document.integer(items[2]) == 3);
}

TEST_CASE("pickle: a dictionary of more keys than a shape has, in two batches") {
  std::vector<std::pair<PickleCode, PickleCode>> members;
  for (int i = 0; i < 100; ++i) members.emplace_back(PickleCode(i), PickleCode(i * i));
  std::string text = pickle(dict(members));
  text.pop_back();
  text += "(X\1\0\0\0zK\1u."s;
  const PickleDocument document = read_code(text);
  CHECK(document.size(document.root()) == 101);
  CHECK(document.integer(document.key(document.root(), 99)) == 99);
  CHECK(document.integer(document.value(document.root(), 99)) == 9801);
  CHECK(document.integer(document.member(document.root(), "z")) == 1);
}

TEST_CASE("pickle: the memo shares values, by order and by any number") {
  const PickleDocument document = read_code(
      "\x80\x04](\x8c\1a\x94h\0r\xff\xff\xff\xffj\xff\xff\xff\xff"
      "e."s);
  const auto items = document.items(document.root());
  REQUIRE(items.size() == 3);
  CHECK(items[0] == items[2]);
}

TEST_CASE("pickle: a defaultdict and an OrderedDict are dictionaries") {
  const PickleDocument document = read_code(
      "\x80\x04\x8c\x0b"
      "collections\x8c\x0b"
      "defaultdict\x93\x8c\x08"
      "builtins\x8c\x04"
      "dict\x93\x85R"
      "(\x8c\1aK\1u."s);
  CHECK(document.integer(document.member(document.root(), "a")) == 1);
  const PickleDocument old = read_code(
      "\x80\x02"
      "ccollections\ndefaultdict\nc__builtin__\ndict\n\x85R(X\1\0\0\0aK\1u."s);
  CHECK(old.integer(old.member(old.root(), "a")) == 1);
  const PickleDocument ordered = read_code(
      "\x80\x02"
      "ccollections\nOrderedDict\n)R."s);
  CHECK(ordered.is_dict(ordered.root()));
}

TEST_CASE("pickle: code is never run, and what would run it is named with its byte") {
  CHECK(error_in("\x8c\x05posix\x8c\x06system\x93\x8c\x01x\x85R.") ==
        "f.pickle: byte 17: the global posix.system is refused: code of a file is never run");
  CHECK(error_in("cos\nsystem\n.") ==
        "f.pickle: byte 2: the global os.system is refused: code of a file is never run");
  CHECK(error_in("ccollections\nCounter\n)R.") ==
        "f.pickle: byte 2: the global collections.Counter is refused: code of a file is never run");
  CHECK(error_in("ccollections\nOrderedDict\n]K\1aR.") ==
        "f.pickle: byte 31: REDUCE, a call, is refused: code of a file is never run");
  CHECK(
      error_in("cbuiltins\ndict\n)\x81.") ==
      "f.pickle: byte 18: opcode NEWOBJ is refused: no memory file needs it, and it may run code");
  CHECK(error_in("K\1Q.") ==
        "f.pickle: byte 4: opcode BINPERSID is refused: no memory file needs it, and it may run "
        "code");
  CHECK(error_in("\xff.") == "f.pickle: byte 2: opcode 0xff is refused: no memory file needs it");
  CHECK(error_of("cos\nsystem\n.") == "f.pickle: byte 0: is no pickle of protocol 2 to 5");
  CHECK(error_of("\x80\x09}.") ==
        "f.pickle: byte 0: protocol 9 is not known; pickles of protocol 2 to 5 are read");
}

TEST_CASE("pickle: damage is refused with its byte") {
  const std::string cut = "the file ends inside its pickle: it is cut; copy or record it again";
  CHECK(error_in("}") == "f.pickle: byte 3: " + cut);
  CHECK(error_in("X\x09\0\0\0abc"s) == "f.pickle: byte 2: " + cut);
  CHECK(error_in("\x8d\0\0\0\0\0\0\0\x80"s) ==
        "f.pickle: byte 2: a length of 9223372036854775808 bytes; texts and integers have at most "
        "16777216");
  CHECK(error_in("\x8b\xfb\xff\xff\xff") == "f.pickle: byte 2: an integer of negative length: -5");
  CHECK(error_in(".") == "f.pickle: byte 2: the stack is empty: this pickle is damaged");
  CHECK(error_in("}u.") ==
        "f.pickle: byte 3: there is no mark on the stack: this pickle is damaged");
  CHECK(error_in("}(K\1u.") ==
        "f.pickle: byte 6: an odd number of keys and values: this pickle is damaged");
  CHECK(error_in("}(]]u.") ==
        "f.pickle: byte 6: a list as a key of a dictionary; texts and integers are read");
  CHECK(error_in("K\1K\2a.") ==
        "f.pickle: byte 6: APPEND to what is no list: this pickle is damaged");
  CHECK(error_in("K\1]]s.") ==
        "f.pickle: byte 6: SETITEM in what is no dictionary: this pickle is damaged");
  CHECK(error_in("h\5.") == "f.pickle: byte 2: memo 5 was never set: this pickle is damaged");
  CHECK(error_in(std::string(70, ']') + std::string(69, 'a') + ".") ==
        "f.pickle: byte 136: values are nested more than 64 deep");
}

TEST_CASE("pickle: a pop does not reach below a mark") {
  CHECK(error_in("K\1(\x85.") == "f.pickle: byte 5: the stack is empty: this pickle is damaged");
  CHECK(read_code("\x80\x04K\1(0.").root() == PickleValue(PickleValue::Tag::integer, 1));
  CHECK(read_code("\x80\x04K\1(K\2K\3"
                  "1.")
            .root() == PickleValue(PickleValue::Tag::integer, 1));
}

TEST_CASE("pickle: a list may hold itself, and bytes after the end are counted") {
  const PickleDocument document = read_code("\x80\x04]\x94h\0a.\0\0\0"s);
  CHECK(document.items(document.root())[0] == document.root());
  CHECK(document.trailing_bytes() == 3);
}

TEST_CASE("pickle: memory is limited by the bytes that were read") {
  // Each list of 1 byte needs 24 on the heap and 8 on the stack.
  CHECK(error_in(std::string(8'000'000, ']')).find("bytes of memory, too many for") !=
        std::string::npos);
}
