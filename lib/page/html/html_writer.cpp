#include "page/html/html_writer.h"

#include "base/one_line.h"

namespace traceloom {
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

void HtmlWriter::escape(std::string_view text) {
  for (const char c : text) {
    if (c == '&')
      out_ += "&amp;";
    else if (c == '<')
      out_ += "&lt;";
    else if (c == '>')
      out_ += "&gt;";
    else if (c == '"')
      out_ += "&quot;";
    else
      out_ += c;
  }
}

void HtmlWriter::start(std::string_view name, Attributes attributes) {
  out_ += '<';
  out_ += name;
  for (const auto& [key, value] : attributes) {
    out_ += ' ';
    out_ += key;
    if (value.empty()) continue;
    out_ += "=\"";
    escape(one_line(value));
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
  escape(one_line(text));
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

}  // namespace traceloom
