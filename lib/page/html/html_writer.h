// HTML in which no text from a trace can become markup: elements, tables, and bytes as base64.
#pragma once

#include "table/table.h"

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceloom {

// base64: bytes as text that can stand in a page (RFC 4648, with padding).
//
//   base64("Man")               // "TWFu"
//   base64(bytes_of_hex("4d61"))   // "TWE="

std::string base64(std::string_view bytes);

// `hex` has an even number of lower-case digits.
std::string bytes_of_hex(std::string_view hex);

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
  // Closes the element that was opened last, and ends the line.
  void close_line() {
    close();
    line();
  }
  // Inserts HTML that this program made, unchanged.
  void raw(std::string_view html) { out_ += html; }
  // Writes data for the page's script: JSON, in which '<' becomes an escape, or base64.
  void data(std::string_view id, std::string_view type, std::string_view content);

 private:
  void start(std::string_view name, Attributes attributes);

  std::string& out_;
  std::vector<std::string_view> open_;
};

// Shortens a name in its middle, so that its end can still be read. It counts the bytes that its
// characters need in HTML, so that names of '<' or of Chinese make no page larger.
std::string page_name(std::string_view name);

// write_table: a table of a report as HTML, which the page's script can sort and filter.
//
//   write_table(html, report.tables[0].table, {.caption = "Kernels", .command = "trace-stats
//   kernels traces/"});
//
// Each number has its exact value beside its text: data-v is the number in the JSON of the table
// that data-t names ("steps.summary"), and data-k of the column is its key there. Shares have a
// bar.

struct TableLook {
  std::string caption;
  std::string command;      // the command line that prints the same numbers
  std::string source = {};  // "steps.summary": the command, and the key of the table in its JSON
  std::size_t most_rows = 100;  // the first rows; how many there are is said
  bool is_tree = false;         // rows have a column "depth"; they are neither sorted nor cut
};

// Columns for few readers and for programs are left out, and so is a column in which no row has a
// value. A table without rows is not written.
void write_table(HtmlWriter& html, const Table& table, const TableLook& look);

}  // namespace traceloom
