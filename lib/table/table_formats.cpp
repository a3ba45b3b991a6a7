#include "table/table_formats.h"

#include "base/units.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>
#include <variant>

namespace traceloom {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kReadableWidth = 16;  // least width of a shortened name: less looks alike
constexpr std::size_t kWantedWidth = 24;    // width of a name that is kept before other columns are
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";

struct TextColumn {
  std::string title;
  std::vector<std::string> cells;
  ColumnKind kind;
  Readers readers;
  bool blank;  // all cells are 0 or empty
  std::size_t width;
};

// Puts a space after the short unit of "61.000 s", so that its point lines up with that of "93.000
// ms".
void align_units(std::vector<std::string>& cells) {
  const auto has_short_unit = [](const std::string& cell) { return cell.ends_with(" s"); };
  if (std::all_of(cells.begin(), cells.end(),
                  [&](const std::string& cell) { return cell == "-" || has_short_unit(cell); }))
    return;
  for (std::string& cell : cells)
    if (has_short_unit(cell)) cell += ' ';
}

bool says_nothing(const Cell& cell) {
  if (const auto* const text = std::get_if<std::string>(&cell)) return text->empty();
  return cell == Cell{} || cell == Cell{std::int64_t{0}} || cell == Cell{0.0};
}

bool is_blank(const Table& table, std::size_t index) {
  return std::all_of(table.rows().begin(), table.rows().end(),
                     [index](const auto& row) { return says_nothing(row[index]); });
}

TextColumn make_column(const Table& table, std::size_t index) {
  const Column& column = table.columns()[index];
  TextColumn made{one_line(column.title), {}, column.kind, column.readers,
                  is_blank(table, index), 0};
  for (std::size_t row = 0; row < table.rows().size(); ++row)
    made.cells.push_back(cell_for_people(table, row, index));
  if (column.kind == ColumnKind::duration) align_units(made.cells);
  made.width = text_width(made.title);
  for (const std::string& cell : made.cells) made.width = std::max(made.width, text_width(cell));
  return made;
}

std::size_t total_width(const std::vector<TextColumn>& columns) {
  return std::accumulate(
      columns.begin(), columns.end(), kGap.size() * (columns.size() - 1),
      [](std::size_t sum, const TextColumn& column) { return sum + column.width; });
}

// Returns the width if every name has kWantedWidth, or less if it needs less.
std::size_t wanted_width(const std::vector<TextColumn>& columns) {
  std::size_t width = total_width(columns);
  for (const TextColumn& column : columns)
    if (column.kind == ColumnKind::text)
      width -=
          column.width - std::min(column.width, std::max(kWantedWidth, text_width(column.title)));
  return width;
}

// True if `a` is left out before `b`, which is to its right.
bool matters_less(const TextColumn& a, const TextColumn& b) {
  if (a.readers == Readers::all || b.readers == Readers::all) return b.readers == Readers::all;
  return a.blank != b.blank ? a.blank : a.readers > b.readers;
}

// Returns true if columns were left out.
bool leave_out(std::vector<TextColumn>& columns, std::size_t width) {
  const std::size_t all = columns.size();
  while (wanted_width(columns) > width) {
    auto least = columns.begin();
    for (auto column = columns.begin(); column != columns.end(); ++column)
      if (!matters_less(*least, *column)) least = column;
    if (least->readers == Readers::all) break;
    columns.erase(least);
  }
  return columns.size() < all;
}

// Takes from the widest text column, one character at a time, so that several columns end up with
// the same width.
void cut_names(std::vector<TextColumn>& columns, std::size_t width) {
  for (std::size_t total = total_width(columns); total > width; --total) {
    TextColumn* widest = nullptr;
    for (TextColumn& column : columns) {
      if (column.kind != ColumnKind::text) continue;
      if (column.width <= std::max(kReadableWidth, text_width(column.title))) continue;
      if (widest == nullptr || column.width > widest->width) widest = &column;
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

std::string padded(const std::string& text, const TextColumn& column) {
  const std::string shown = shorten_middle(text, column.width);
  const std::string padding(column.width - text_width(shown), ' ');
  return is_right_aligned(column.kind) ? padding + shown : shown + padding;
}

// Appends one line; `text_of` returns the text of a column in that line.
template <typename TextOf>
void append_line(std::string& out, const std::vector<TextColumn>& columns, TextOf text_of) {
  for (const TextColumn& column : columns) {
    if (&column != &columns.front()) out += kGap;
    out += padded(text_of(column), column);
  }
  out.erase(out.find_last_not_of(' ') + 1);
}

std::string rule(std::size_t width) {
  std::string line;
  for (std::size_t i = 0; i < width; ++i) line += "─";
  return line;
}

}  // namespace

TextReport text_report(const Table& table, const TextStyle& style) {
  const Table shown = table.for_people(style.wide);
  std::vector<TextColumn> columns;
  for (std::size_t i = 0; i < shown.columns().size(); ++i) columns.push_back(make_column(shown, i));
  if (columns.empty()) return {"\n"};
  const auto width = static_cast<std::size_t>(std::max(style.width, 0));
  const bool fits = style.wide || width == 0;
  const bool has_more = !fits && leave_out(columns, width);
  if (!fits && style.cut_names)
    cut_names(columns, style.cut_width > 0 ? static_cast<std::size_t>(style.cut_width) : width);

  std::string out;
  const std::string_view reset = style.colour ? kReset : "";
  out += style.colour ? kBold : "";
  append_line(out, columns, [](const TextColumn& column) { return column.title; });
  out += reset;
  out += '\n';
  out += style.colour ? kDim : "";
  append_line(out, columns, [](const TextColumn& column) { return rule(column.width); });
  out += reset;
  out += '\n';
  for (std::size_t row = 0; row < shown.rows().size(); ++row) {
    append_line(out, columns, [row](const TextColumn& column) { return column.cells[row]; });
    out += '\n';
  }
  return {std::move(out), has_more};
}

namespace {

void append_field(std::string& out, const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

// True also for the wide forms of these characters, which some spreadsheets treat like the plain
// ones.
bool runs_in_spreadsheets(std::string_view text) {
  constexpr std::string_view kStarts[] = {"=",  "+",      "-",      "@",      "\t",    "\r",
                                          "\n", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [text](std::string_view start) { return text.starts_with(start); });
}

}  // namespace

std::string csv_report(const Table& table, bool for_spreadsheets) {
  std::string out;
  const std::vector<Column>& columns = table.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out += ',';
    append_field(out, columns[i].key);
  }
  out += '\n';
  for (const std::vector<Cell>& row : table.rows()) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += ',';
      std::string text = cell_for_programs(row[i]);
      if (for_spreadsheets && std::holds_alternative<std::string>(row[i]) &&
          runs_in_spreadsheets(text))
        text.insert(0, 1, '\'');
      append_field(out, text);
    }
    out += '\n';
  }
  return out;
}

void append_rows(JsonWriter& json, const Table& table) {
  json.begin_array();
  for (const std::vector<Cell>& row : table.rows())
    json.raw(json_object([&](JsonWriter& object) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        object.key(table.columns()[i].key);
        std::visit(
            [&]<typename Value>(const Value& value) {
              if constexpr (std::is_same_v<Value, std::monostate>)
                object.null();
              else
                object.value(value);
            },
            row[i]);
      }
    }));
  json.end_array();
}

std::string json_report(const Table& table) {
  std::string out;
  JsonWriter json(out, 2);
  append_rows(json, table);
  out += '\n';
  return out;
}

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

std::string markup_text(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '&')
      escaped += "&amp;";
    else if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '"')
      escaped += "&quot;";
    else
      escaped += c;
  }
  return escaped;
}

}  // namespace traceloom
