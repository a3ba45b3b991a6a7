#include "base/json_string.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace traceloom;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

std::string in_quotes(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

TEST_CASE("json_string: every simple escape is decoded") {
  CHECK(decode_json_string(R"(\" \\ \/ \b \f \n \r \t)") == "\" \\ / \b \f \n \r \t");
}

TEST_CASE("json_string: \\u escapes become UTF-8 of one to four bytes") {
  CHECK(decode_json_string(R"(\u0041)") == "A");
  CHECK(decode_json_string(R"(caf\u00e9)") == "caf\u00E9");
  CHECK(decode_json_string(R"(\u00E9\u20ac)") == "\u00E9\u20AC");
  CHECK(decode_json_string(R"(\ud83d\ude00!)") == "\U0001F600!");
  CHECK(decode_json_string(R"(\ud800\udc00\udbff\udfff)") == "\U00010000\U0010FFFF");
  CHECK(decode_json_string(R"(a\u0000b)") == "a\0b"s);
}

TEST_CASE("json_string: half a surrogate pair becomes U+FFFD and what follows is kept") {
  CHECK(decode_json_string(R"(\ud83d)") == "\uFFFD");
  CHECK(decode_json_string(R"(\ud83dx)") == "\uFFFDx");
  CHECK(decode_json_string(R"(\ude00\ud83d)") == "\uFFFD\uFFFD");
  CHECK(decode_json_string(R"(\ud83d\n)") == "\uFFFD\n");
  CHECK(decode_json_string(R"(\ud83d\u0041)") == "\uFFFDA");
  CHECK(decode_json_string(R"(\ud83d\ud83d\ude00)") == "\uFFFD\U0001F600");
  CHECK(decode_json_string(R"(\ud83d\ude0)") == "\uFFFD\\ude0");
}

TEST_CASE("json_string: a backslash that starts no escape stands for itself") {
  CHECK(decode_json_string(R"(C:\_work\c)") == R"(C:\_work\c)");
  CHECK(decode_json_string(R"(\u12)") == R"(\u12)");
  CHECK(decode_json_string(R"(\u12g4)") == R"(\u12g4)");
  CHECK(decode_json_string("end\\") == "end\\");
  CHECK(decode_json_string("\\\xC3\xA9") == "\\\xC3\xA9");
}

TEST_CASE("json_string: raw control characters and quotes stand for themselves when decoded") {
  CHECK(decode_json_string("a\nb\x01\"c") == "a\nb\x01\"c");
}

TEST_CASE("json_string: only what JSON demands is escaped") {
  CHECK(in_quotes("") == R"("")");
  CHECK(in_quotes("say \"hi\" \\ / \u00E9 \x7F") == "\"say \\\"hi\\\" \\\\ / \u00E9 \x7F\"");
  CHECK(in_quotes("\b\f\n\r\t") == R"("\b\f\n\r\t")");
  CHECK(in_quotes("\0\x01\x1F"sv) == R"("\u0000\u0001\u001f")");
  CHECK(in_quotes("\xFF") == "\"\uFFFD\"");
}

TEST_CASE("json_string: well-formed UTF-8 passes at the borders of every range") {
  const std::string_view texts[] = {"\x7F",
                                    "\xC2\x80",
                                    "\xDF\xBF",
                                    "\xE0\xA0\x80",
                                    "\xEC\xBF\xBF",
                                    "\xED\x9F\xBF",
                                    "\xEE\x80\x80",
                                    "\xEF\xBF\xBF",
                                    "\xF0\x90\x80\x80",
                                    "\xF3\xBF\xBF\xBF",
                                    "\xF4\x8F\xBF\xBF"};
  for (const std::string_view text : texts) {
    CHECK(to_valid_utf8(text) == text);
    CHECK(is_clean_json_string(text));
  }
}

TEST_CASE("json_string: each maximal prefix of an ill-formed sequence becomes one U+FFFD") {
  const auto replaced = [](std::string_view text, int count) {
    std::string expected = "<";
    for (int i = 0; i < count; ++i) expected += "\uFFFD";
    const std::string framed = "<" + std::string(text) + ">";
    CHECK(to_valid_utf8(framed) == expected + ">");
    CHECK(decode_json_string(framed) == expected + ">");
    CHECK(in_quotes(framed) == "\"" + expected + ">\"");
    CHECK_FALSE(is_clean_json_string(framed));
  };
  replaced("\x80", 1);              // a continuation alone
  replaced("\xC0\xAF", 2);          // overlong, two bytes
  replaced("\xC1\xBF", 2);          // overlong
  replaced("\xE0\x9F\xBF", 3);      // overlong, three bytes
  replaced("\xF0\x8F\xBF\xBF", 4);  // overlong, four bytes
  replaced("\xED\xA0\x80", 3);      // a surrogate as bytes
  replaced("\xED\xBF\xBF", 3);      // the last surrogate
  replaced("\xF4\x90\x80\x80", 4);  // beyond U+10FFFF
  replaced("\xF5\x80\x80\x80", 4);  // no such lead byte
  replaced("\xFF", 1);
  replaced("\xC3", 1);                      // cut after one
  replaced("\xE2\x82", 1);                  // cut after two: one prefix, one replacement
  replaced("\xF0\x9F\x98", 1);              // cut after three
  replaced("\xF0\x9F\xC3", 2);              // cut, then cut again
  replaced("\xE1\x80\xE2\xF0\x91\x92", 3);  // the example of the Unicode standard, 3.9
}

TEST_CASE("json_string: a sequence cut by the end of the text is one U+FFFD") {
  CHECK(to_valid_utf8("a\xE2\x82") == "a\uFFFD");
  CHECK(to_valid_utf8("a\xF0") == "a\uFFFD");
}

TEST_CASE("json_string: clean is what is valid JSON and has no surrogate escapes") {
  CHECK(is_clean_json_string(""));
  CHECK(is_clean_json_string("void at::native::vectorized_elementwise_kernel<4>"));
  CHECK(is_clean_json_string("caf\u00E9 \U0001F600"));
  CHECK(is_clean_json_string(R"(a\"b\\c\/d\n\u00e9\ud7ff\ue000)"));
  CHECK_FALSE(is_clean_json_string(R"(\ud83d\ude00)"));
  CHECK_FALSE(is_clean_json_string(R"(\ud83d)"));
  CHECK_FALSE(is_clean_json_string(R"(\x)"));
  CHECK_FALSE(is_clean_json_string(R"(\u00g0)"));
  CHECK_FALSE(is_clean_json_string("a\\"));
  CHECK_FALSE(is_clean_json_string("a\nb"));
  CHECK_FALSE(is_clean_json_string("a\"b"));
}

TEST_CASE("json_string: one special byte is seen at every place of a long string") {
  for (const std::string_view special : {"\x1F", "\"", "\xFF", "\\x", "\x80"})
    for (std::size_t length = 0; length < 40; ++length)
      for (std::size_t place = 0; place <= length; ++place) {
        std::string text(length, '~');
        text.insert(place, special);
        CHECK_FALSE(is_clean_json_string(text));
      }
}

TEST_CASE("json_string: every byte alone is clean exactly when JSON and UTF-8 allow it") {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(9, static_cast<char>(byte));  // the eight-byte step and the rest
    const bool allowed = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
    // nine backslashes: four escapes and a lone one
    CHECK(is_clean_json_string(text) == allowed);
  }
}

TEST_CASE("json_string: decoding what was written gives the text back") {
  std::string text;
  for (int byte = 0; byte < 0x80; ++byte) text += static_cast<char>(byte);
  text += "\u00E9\u20AC\U0001F600";
  std::string written = in_quotes(text);
  written = written.substr(1, written.size() - 2);
  CHECK(is_clean_json_string(written));
  CHECK(decode_json_string(written) == text);
}

TEST_CASE("json_string: names the faults of a string") {
  const auto faults = [](std::string_view body) {
    const StringFaults found = find_string_faults(body);
    std::string names;
    if (found.control_character) names += " control";
    if (found.bad_escape) names += " escape";
    if (found.invalid_utf8) names += " utf8";
    return names;
  };
  CHECK(faults("") == "");
  CHECK(faults(R"(plain \" \\ \/ \n \u00e9 \ud83d\ude00 )"
               "caf\xC3\xA9 \x7F") == "");
  CHECK(faults("12345678\n") == " control");
  CHECK(faults(std::string_view("a\0", 2)) == " control");
  for (const char* body : {R"(\x)", R"(\u12)", R"(\u12g4)", R"(\ud83d)", R"(\ude00\ud83d)",
                           R"(\ud83d\u0041)", R"(12345678\)"}) {
    CAPTURE(body);
    CHECK(faults(body) == " escape");
  }
  CHECK(faults("a\xFF") == " utf8");
  CHECK(faults("\xE2\x82") == " utf8");
  CHECK(faults("\xFF\\x\t") == " control escape utf8");
}
