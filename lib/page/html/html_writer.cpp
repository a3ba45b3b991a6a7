#include "page/html/html_writer.h"

#include "base/units.h"
#include "table/table_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

namespace traceloom {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = bytes.size() - i;
    const auto byte = [&](std::size_t k) {
      return k < count ? std::uint32_t{static_cast<unsigned char>(bytes[i + k])} : 0U;
    };
    const std::uint32_t bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    text += kDigits[bits >> 18];
    text += kDigits[bits >> 12 & 63];
    text += count > 1 ? kDigits[bits >> 6 & 63] : '=';
    text += count > 2 ? kDigits[bits & 63] : '=';
  }
  return text;
}

std::string bytes_of_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  return bytes;
}

namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

// The bytes of the character that begins there.
std::size_t character_at(std::string_view line, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < line.size() && is_continuation(line[end])) ++end;
  return end - begin;
}

// Returns the bytes that the character needs in a page.
std::size_t weight_at(std::string_view line, std::size_t begin) {
  const char c = line[begin];
  if (c == '<' || c == '>' || c == '&' || c == '"') return 5;
  return character_at(line, begin);
}

}  // namespace

void HtmlWriter::start(std::string_view name, Attributes attributes) {
  out_ += '<';
  out_ += name;
  for (const auto& [key, value] : attributes) {
    out_ += ' ';
    out_ += key;
    if (value.empty()) continue;
    out_ += "=\"";
    out_ += markup_text(one_line(value));
    out_ += '"';
  }
}

void HtmlWriter::open(std::string_view name, Attributes attributes) {
  start(name, attributes);
  out_ += '>';
  open_.push_back(name);
}

void HtmlWriter::close() {
  out_ += "</";
  out_ += open_.back();
  out_ += '>';
  open_.pop_back();
}

void HtmlWriter::element(std::string_view name, std::string_view text, Attributes attributes) {
  open(name, attributes);
  this->text(text);
  close();
}

void HtmlWriter::single(std::string_view name, Attributes attributes) {
  start(name, attributes);
  out_ += "/>";
}

void HtmlWriter::text(std::string_view text) {
  out_ += markup_text(one_line(text));
}

void HtmlWriter::data(std::string_view id, std::string_view type, std::string_view content) {
  start("script", {{"type", type}, {"id", id}});
  out_ += '>';
  for (const char c : content)
    if (c == '<')
      out_ += "\\u003c";
    else
      out_ += c;
  out_ += "</script>\n";
}

std::string page_name(std::string_view name) {
  std::string line = one_line(name);
  std::size_t weight = 0;
  for (std::size_t i = 0; i < line.size(); i += character_at(line, i)) weight += weight_at(line, i);
  if (weight <= kMostNameWeight) return line;
  // A third of the room is for the end.
  constexpr std::size_t kEndWeight = kMostNameWeight / 3;
  constexpr std::size_t kBeginWeight = kMostNameWeight - kEndWeight - std::string_view("…").size();
  std::size_t begin = 0;
  for (std::size_t seen = weight_at(line, 0); seen <= kBeginWeight;) {
    begin += character_at(line, begin);
    seen += weight_at(line, begin);
  }
  std::size_t end = line.size();
  for (std::size_t seen = 0;;) {
    std::size_t before = end - 1;
    while (is_continuation(line[before])) --before;
    seen += weight_at(line, before);
    if (seen > kEndWeight) break;
    end = before;
  }
  return line.substr(0, begin) + "…" + line.substr(end);
}

namespace {

bool is_empty(const Cell& cell) {
  return std::holds_alternative<std::monostate>(cell);
}

std::vector<std::size_t> shown_columns(const Table& table, std::size_t rows) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const Column& column = table.columns()[i];
    if (column.readers == Readers::few || column.readers == Readers::programs) continue;
    const auto has_value = [&](const std::vector<Cell>& row) { return !is_empty(row[i]); };
    if (std::any_of(table.rows().begin(), table.rows().begin() + static_cast<std::ptrdiff_t>(rows),
                    has_value))
      shown.push_back(i);
  }
  return shown;
}

void write_number(HtmlWriter& html, const Table& table, std::size_t row, std::size_t column) {
  const Cell& cell = table.rows()[row][column];
  if (is_empty(cell)) {
    html.raw("<td class=n>-");
    return;
  }
  html.raw(fmt::format("<td class=n data-v={}>", cell_for_programs(cell)));
  html.text(cell_for_people(table, row, column));
  // A difference of shares may be negative, and has no bar.
  const Column& shown = table.columns()[column];
  if (shown.kind != ColumnKind::share || shown.key.starts_with("delta_")) return;
  const double share = std::clamp(std::get<double>(cell), 0.0, 1.0);
  html.raw(fmt::format("<svg class=share aria-hidden=true><rect width={:.1f}% height=100% /></svg>",
                       100 * share));
}

// End tags of cells and rows are left out, as HTML allows: they are a fifth of a table's bytes.
void write_row(HtmlWriter& html, const Table& table, std::size_t row,
               const std::vector<std::size_t>& columns, std::optional<std::size_t> depth) {
  if (depth)
    html.raw(fmt::format("<tr data-d={}>", cell_for_programs(table.rows()[row][*depth])));
  else
    html.raw("<tr>");
  for (const std::size_t column : columns) {
    if (is_right_aligned(table.columns()[column].kind)) {
      write_number(html, table, row, column);
      continue;
    }
    html.raw("<td>");
    if (depth && table.columns()[column].key == "name")
      html.raw(std::string(
          2 * static_cast<std::size_t>(std::get<std::int64_t>(table.rows()[row][*depth])), ' '));
    const Cell& cell = table.rows()[row][column];
    html.text(is_empty(cell) ? "-" : page_name(std::get<std::string>(cell)));
  }
  html.line();
}

void write_head(HtmlWriter& html, const Table& table, const std::vector<std::size_t>& columns) {
  html.raw("<thead><tr>");
  for (const std::size_t i : columns) {
    const Column& column = table.columns()[i];
    if (is_right_aligned(column.kind))
      html.element("th", column.title, {{"scope", "col"}, {"data-k", column.key}, {"class", "n"}});
    else
      html.element("th", column.title, {{"scope", "col"}, {"data-k", column.key}});
  }
  html.raw("</thead>\n<tbody>\n");
}

}  // namespace

void write_table(HtmlWriter& html, const Table& table, const TableLook& look) {
  const std::size_t count =
      look.is_tree ? table.rows().size() : std::min(look.most_rows, table.rows().size());
  if (count == 0) return;
  const std::vector<std::size_t> columns = shown_columns(table, count);
  const std::optional<std::size_t> depth = look.is_tree ? table.find_column("depth") : std::nullopt;
  html.element("h3", look.caption);
  html.open("p", {{"class", "command"}});
  if (count < table.rows().size())
    html.text(fmt::format("The first {} of {} rows. All: ", format_count(count),
                          format_count(table.rows().size())));
  html.element("code", look.command);
  html.close();
  html.open(
      "div",
      {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", look.caption}});
  html.open("table", {{"class", look.is_tree ? "data tree" : "data"},
                      {"data-t", look.source},
                      {"aria-label", look.caption}});
  write_head(html, table, columns);
  for (std::size_t row = 0; row < count; ++row) write_row(html, table, row, columns, depth);
  html.raw("</tbody>");
  html.close();
  html.close_line();
}

}  // namespace traceloom
