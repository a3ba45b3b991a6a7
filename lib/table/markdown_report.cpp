#include "table/markdown_report.h"

#include "base/one_line.h"
#include "table/cell_text.h"
#include "table/text_width.h"

#include <algorithm>
#include <cctype>

namespace traceloom {
namespace {

constexpr std::size_t kMinWidth = 3;  // width of the dashes under a title

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// True if the `<` before `next` could start an HTML tag.
bool opens_tag(char next) {
  return std::isalpha(static_cast<unsigned char>(next)) != 0 ||
         std::string_view("/!?").find(next) != std::string_view::npos;
}

// True if `sign` and `next` would call a person (@name) or an issue (#12) of the site that shows
// the page.
bool is_mention(char sign, char next) {
  return (sign == '@' && is_alnum(next)) ||
         (sign == '#' && std::isdigit(static_cast<unsigned char>(next)) != 0);
}

// Escapes only where needed: an underscore after a letter or digit starts no emphasis, and kernel
// names contain many of these.
std::string escape(const std::string& text) {
  std::string out;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool follows_word = in_word;
    if (c == '_') {
      if (!in_word) out += '\\';
    } else {
      in_word = is_alnum(c);
      if (c == '<' && i + 1 < text.size() && opens_tag(text[i + 1])) out += '\\';
      if (std::string_view("\\`*[&|~$").find(c) != std::string_view::npos) out += '\\';
    }
    out += c;
    // A backslash does not help here, an empty comment does.
    if (!follows_word && i + 1 < text.size() && is_mention(c, text[i + 1])) out += "<!-- -->";
  }
  return out;
}

// Returns the texts of one column, its title first, all padded to the widest.
std::vector<std::string> column_texts(const Table& table, std::size_t index) {
  const Column& column = table.columns()[index];
  std::vector<std::string> texts{markdown_line(column.title)};
  for (std::size_t row = 0; row < table.rows().size(); ++row) {
    std::string text = cell_for_people(table, row, index);
    texts.push_back(column.kind == ColumnKind::text ? escape(text) : std::move(text));
  }
  std::size_t width = kMinWidth;
  for (const std::string& text : texts) width = std::max(width, text_width(text));
  for (std::string& text : texts)
    text.insert(is_right_aligned(column.kind) ? 0 : text.size(), width - text_width(text), ' ');
  const std::string dashes(width - 1, '-');
  texts.insert(texts.begin() + 1, is_right_aligned(column.kind) ? dashes + ":" : ":" + dashes);
  return texts;
}

}  // namespace

std::string markdown_report(const Table& table) {
  std::vector<std::vector<std::string>> columns;
  for (std::size_t i = 0; i < table.columns().size(); ++i)
    columns.push_back(column_texts(table, i));
  std::string out;
  for (std::size_t line = 0; line < table.rows().size() + 2; ++line) {
    for (const std::vector<std::string>& texts : columns) out += "| " + texts[line] + " ";
    out += "|\n";
  }
  return out;
}

std::string markdown_line(std::string_view text) {
  return escape(one_line(text));
}

}  // namespace traceloom
