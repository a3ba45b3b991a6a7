// HtmlWriter: writes HTML in which no text from a trace can become markup.
//
//   std::string page;
//   HtmlWriter html(page);
//   html.open("p", {{"class", "lead"}});
//   html.text("a < b");
//   html.close();                      // <p class="lead">a &lt; b</p>
//
// Texts and values of attributes are made one valid line (one_line()) and escaped here, and only
// here. Names of elements and attributes are literals of ours.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// The bytes of a name from a trace in a page, roughly; see page_name(). A name of plain letters has
// room for as many of them.
inline constexpr std::size_t kMostNameWeight = 160;

class HtmlWriter {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // Appends to `out`, which must outlive the writer.
  explicit HtmlWriter(std::string& out) : out_(out) {}

  void open(std::string_view name, Attributes attributes = {});
  // Closes the element that was opened last.
  void close();
  // Writes an element with a text and nothing else.
  void element(std::string_view name, std::string_view text, Attributes attributes = {});
  // Writes an element that has no end tag: <meta>, <input>; of SVG: <rect/>.
  void single(std::string_view name, Attributes attributes);
  void text(std::string_view text);
  // Writes a line end, so that a page can be read and compared by lines.
  void line() { out_ += '\n'; }
  // Inserts HTML that this program made, unchanged.
  void raw(std::string_view html) { out_ += html; }
  // Writes data for the page's script: JSON, in which '<' becomes an escape, or base64.
  void data(std::string_view id, std::string_view type, std::string_view content);

 private:
  void start(std::string_view name, Attributes attributes);
  void escape(std::string_view text);

  std::string& out_;
  std::vector<std::string_view> open_;
};

// Shortens a name in its middle, so that its end can still be read. It counts the bytes that its
// characters need in HTML, so that names of '<' or of Chinese make no page larger.
std::string page_name(std::string_view name);

}  // namespace traceloom
