#include "page/html/html_writer.h"

#include <doctest/doctest.h>

#include <string>

using namespace traceloom;

TEST_CASE("html: no text becomes markup") {
  std::string page;
  HtmlWriter html(page);
  html.open("p", {{"title", "a\"b<c>&"}, {"hidden", ""}});
  html.text("</p><img src=x onerror='alert(1)'>&amp;\n\x1b[31m");
  html.element("b", "x < y");
  html.close();
  html.single("rect", {{"width", "3"}});
  CHECK(page ==
        "<p title=\"a&quot;b&lt;c&gt;&amp;\" hidden>"
        "&lt;/p&gt;&lt;img src=x onerror='alert(1)'&gt;&amp;amp;\\n\\x1b[31m"
        "<b>x &lt; y</b></p><rect width=\"3\"/>");
}

TEST_CASE("html: data for a script cannot end its element") {
  std::string page;
  HtmlWriter html(page);
  html.data("facts", "application/json", R"(["</script><!--<script>"])");
  CHECK(page ==
        "<script type=\"application/json\" id=\"facts\">"
        "[\"\\u003c/script>\\u003c!--\\u003cscript>\"]</script>\n");
}

TEST_CASE("html: a name is shortened in its middle, by the bytes that it needs") {
  CHECK(page_name("gemm") == "gemm");
  CHECK(page_name(std::string(160, 'a')) == std::string(160, 'a'));
  const std::string letters = std::string(300, 'a') + std::string(300, 'z');
  CHECK(page_name(letters) == std::string(104, 'a') + "…" + std::string(53, 'z'));
  std::string angles = std::string(60, '<');
  CHECK(page_name(angles) == std::string(20, '<') + "…" + std::string(10, '<'));
  std::string words;
  for (int i = 0; i < 100; ++i) words += "漢";
  const std::string shorter = page_name(words);
  CHECK(shorter.size() <= 160);
  CHECK(shorter.size() % 3 == 0);  // no character is cut, and the dots are one of three bytes
  CHECK(shorter.substr(0, 3) == "漢");
  CHECK(page_name("a\nb") == "a\\nb");
}

TEST_CASE("base64: the examples of RFC 4648, and all bytes") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("foobar") == "Zm9vYmFy");
  CHECK(base64("\xff\xfe\xfd") == "//79");
  CHECK(bytes_of_hex("4d617aff") == "Maz\xff");
}
