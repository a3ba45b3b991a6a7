#include "analysis/report.h"

#include "output/json_writer.h"
#include "table/table_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace traceloom {
namespace {

constexpr int kSchemaVersion = 1;
constexpr int kNarrowest = 20;  // columns in which sentences are wrapped

std::string json_document(const Report& report) {
  std::string text;
  JsonWriter json(text, 2);
  json.begin_object();
  json.member("schema_version", kSchemaVersion);
  json.member("command", report.command);
  write_files(json, report.files);
  for (const auto& [key, value] : report.values) {
    json.key(key);
    json.raw(value);
  }
  for (const ReportTable& part : report.tables) {
    json.key(part.key);
    append_rows(json, part.table);
  }
  write_list(json, "notes", report.notes);
  write_file_problems(json, report.files);
  json.end_object();
  text += '\n';
  return text;
}

// Returns the line, wrapped if `style` says so: later lines begin below the first word after
// "  - " or "note: ".
std::string wrapped(const std::string& line, const TextStyle& style) {
  if (!style.wrap || style.width < kNarrowest ||
      text_width(line) <= static_cast<std::size_t>(style.width))
    return line + "\n";
  constexpr std::size_t kIndent = 2;
  std::size_t lead = 0;
  for (const std::string_view start : {"  - ", "Next: ", "note: "})
    if (line.starts_with(start)) lead = start.size();
  const std::size_t indent = lead == 0 ? kIndent : lead;
  const std::size_t width = static_cast<std::size_t>(style.width) - indent;
  std::string text;
  for (const std::string& part : wrap_words(std::string_view(line).substr(lead), width))
    text += (text.empty() ? line.substr(0, lead) : std::string(indent, ' ')) + part + "\n";
  return text;
}

// Returns the rows that people see, with a title that says how many those are; nothing for all.
std::optional<ReportTable> cut_for_people(const ReportTable& part) {
  const std::size_t rows = part.table.rows().size();
  if (part.most_for_people == 0 || rows <= part.most_for_people) return std::nullopt;
  ReportTable shown = part;
  shown.table.cut_to(part.most_for_people);
  shown.title += fmt::format(" ({} of {} rows, all in JSON)", part.most_for_people, rows);
  return shown;
}

std::string markdown_part(const ReportTable& part, const TextStyle& style) {
  const std::string title = markdown_line(part.title);
  const std::string table = render_table(part.table, TableFormat::md, style);
  if (part.is_folded)
    return "<details><summary>" + title + "</summary>\n\n" + table + "\n</details>\n";
  return (title.empty() ? "" : "### " + title + "\n\n") + table;
}

std::string document_for_people(const Report& report, TableFormat format, const TextStyle& style) {
  const bool markdown = format == TableFormat::md;
  const auto shown = markdown ? markdown_line : one_line;
  std::string text;
  bool has_more = false;
  for (const std::string& line : report.headline)
    text += markdown ? shown(line) + "\n\n" : wrapped(shown(line), style);
  for (const ReportTable& whole : report.tables) {
    if (whole.table.rows().empty() && &whole != &report.tables.front()) continue;
    const std::optional<ReportTable> cut = cut_for_people(whole);
    const ReportTable& part = cut ? *cut : whole;
    if (!text.empty() && !text.ends_with("\n\n")) text += '\n';
    if (markdown) {
      text += markdown_part(part, style);
      continue;
    }
    if (!part.title.empty()) text += shown(part.title) + "\n";
    const TextReport table = text_report(part.table, style);
    text += table.text;
    has_more |= table.has_more;
  }
  std::vector<std::string> notes = report.notes;
  if (has_more) notes.emplace_back(kMoreColumnsNote);
  if (!notes.empty() && !text.empty()) text += '\n';
  for (const std::string& note : notes)
    text += markdown ? "- " + shown(note) + "\n" : wrapped("note: " + shown(note), style);
  return text;
}

}  // namespace

void RankNotes::add(std::int64_t rank, const std::string& what) {
  const auto same = [&](const auto& note) { return note.first == what; };
  auto found = std::find_if(notes_.begin(), notes_.end(), same);
  if (found == notes_.end()) found = notes_.insert(found, {what, {}});
  if (found->second.empty() || found->second.back() != rank) found->second.push_back(rank);
}

void RankNotes::append_to(Report& report) const {
  for (const auto& [what, ranks] : notes_)
    report.notes.push_back(fmt::format("{}: {}", ranks_words(ranks, RankStyle::option), what));
}

std::string render_report(const Report& report, TableFormat format, const TextStyle& style) {
  if (format == TableFormat::json) return json_document(report);
  if (format == TableFormat::csv)
    return report.tables.empty() ? "" : render_table(report.tables.front().table, format, style);
  if (format == TableFormat::columns) {
    std::string text;
    for (const ReportTable& part : report.tables) text += column_list(part.table, part.key);
    return text;
  }
  return document_for_people(report, format, style);
}

}  // namespace traceloom
