#include "gate/gate_term.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "base/units.h"
#include "input/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace traceloom {
namespace {

// The sign between metric and bounds. It is the last one, because names of copies have arrows.
struct Sign {
  std::size_t at = std::string::npos;
  std::size_t end = std::string::npos;
};

Sign find_sign(const std::string& text) {
  const std::size_t last = text.find_last_of("=>");
  // A name may have a sign in its brackets: kernel[a=b].calls.
  if (last == std::string::npos || text.find(']', last) != std::string::npos) return {};
  const bool is_at_most = text[last] == '=' && last > 0 && text[last - 1] == '<';
  return {is_at_most ? last - 1 : last, last + 1};
}

std::optional<GateBound> parse_bound(const std::string& text) {
  GateBound bound;
  bound.is_change = text.starts_with('+');
  const std::string rest(trimmed(std::string_view(text).substr(bound.is_change ? 1 : 0)));
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data(), end, bound.value);
  if (error != std::errc{} || !std::isfinite(bound.value) || bound.value < 0) return std::nullopt;
  const std::string_view unit = trimmed({stop, static_cast<std::size_t>(end - stop)});
  if (unit == "%") {
    bound.value /= 100;
    bound.unit = BoundUnit::share;
  } else if (const auto ns = parse_duration(rest); ns && !unit.empty()) {
    bound.value = static_cast<double>(*ns);
    bound.unit = BoundUnit::time;
  } else if (const auto bytes = parse_bytes(rest); bytes && !unit.empty()) {
    bound.value = static_cast<double>(*bytes);
    bound.unit = BoundUnit::bytes;
  } else if (!unit.empty()) {
    return std::nullopt;
  }
  return bound;
}

std::vector<GateBound> read_bounds(std::string_view option, const std::string& term,
                                   std::string_view list) {
  constexpr std::string_view kOr = " or ";
  std::vector<GateBound> bounds;
  while (true) {
    const std::size_t end = list.find(kOr);
    const std::string one(trimmed(list.substr(0, end)));
    const std::optional<GateBound> bound = parse_bound(one);
    if (!bound)
      throw UsageError(
          fmt::format("{}: '{}': '{}' is not a share, a time, a size or a number (try 5%, 5ms or "
                      "+10%)",
                      option, term, one));
    bounds.push_back(*bound);
    if (end == std::string_view::npos) return bounds;
    list.remove_prefix(end + kOr.size());
  }
}

// Moves the suffix of `name` to the field if it is one.
void take_field(GateTerm& term, const std::vector<std::string_view>& fields) {
  const std::size_t dot = term.name.rfind('.');
  if (dot == std::string::npos) return;
  const std::string suffix = term.name.substr(dot + 1);
  if (std::find(fields.begin(), fields.end(), suffix) == fields.end()) return;
  term.field = suffix;
  term.name.resize(dot);
}

void take_pattern(GateTerm& term) {
  const std::size_t open = term.name.find('[');
  if (open == std::string::npos || !term.name.ends_with(']')) return;
  term.pattern = term.name.substr(open + 1, term.name.size() - open - 2);
  term.name.resize(open);
}

}  // namespace

std::string GateTerm::metric() const {
  return name + (pattern ? "[" + *pattern + "]" : "") + (field.empty() ? "" : "." + field);
}

GateTerm read_gate_term(std::string_view option, const std::string& text,
                        const std::vector<std::string_view>& fields) {
  GateTerm term{.text = std::string(trimmed(text)), .name = {}};
  const Sign sign = find_sign(term.text);
  term.name = trimmed(std::string_view(term.text).substr(0, sign.at));
  take_field(term, fields);
  take_pattern(term);
  if (term.name.empty() && !term.pattern)
    throw UsageError(fmt::format("{}: '{}' has no name", option, text));
  if (sign.at != std::string::npos)
    term.bounds = read_bounds(option, term.text, std::string_view(term.text).substr(sign.end));
  return term;
}

std::vector<std::string> split_gate_terms(const std::string& list) {
  std::vector<std::string> terms(1);
  int depth = 0;
  for (const char letter : list) {
    depth += letter == '[' ? 1 : letter == ']' ? -1 : 0;
    if (letter == ',' && depth <= 0)
      terms.emplace_back();
    else
      terms.back() += letter;
  }
  return terms;
}

namespace {

constexpr std::size_t kMostGateText = std::size_t{1} << 20;

std::vector<std::string> read_gate_file(const std::string& path) {
  if (path.empty()) throw UsageError("'@' needs the name of a file with conditions: @gates.txt");
  std::istringstream file(read_text(path, kMostGateText));
  std::vector<std::string> terms;
  std::string line;
  while (std::getline(file, line)) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // of editors on Windows
    if (terms.empty() && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    line = std::string(trimmed(line));
    if (!line.empty() && !line.starts_with('#')) terms.push_back(line);
  }
  if (terms.empty()) throw Error(path, "has no condition; write one a line");
  return terms;
}

}  // namespace

std::vector<std::string> with_gate_files(const std::vector<std::string>& words) {
  std::vector<std::string> terms;
  for (const std::string& word : words) {
    if (!word.starts_with('@')) {
      terms.push_back(word);
      continue;
    }
    const std::vector<std::string> of_file = read_gate_file(word.substr(1));
    terms.insert(terms.end(), of_file.begin(), of_file.end());
  }
  return terms;
}

}  // namespace traceloom
