#include "base/ascii.h"
#include "base/problems.h"
#include "base/units.h"
#include "memory/memory_reports.h"

#include <algorithm>
#include <utility>

namespace traceloom {
namespace {

bool is_rule(std::string_view line, char c) {
  return line.size() >= 4 && line.find_first_not_of(c) == std::string_view::npos;
}

// Returns the begins and sizes of the runs of = in a line of them; nothing for any other line. The
// last column goes on to the end of its line.
using Columns = std::vector<std::pair<std::size_t, std::size_t>>;
Columns columns_of(std::string_view line) {
  if (!line.starts_with('=') || line.find_first_not_of("= ") != std::string_view::npos) return {};
  Columns columns;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    if (end > at) columns.emplace_back(at, end - at);
    at = end + 1;
  }
  columns.back().second = std::string_view::npos;
  return columns;
}

std::vector<std::string_view> cells_of(std::string_view line, const Columns& columns) {
  std::vector<std::string_view> cells;
  for (const auto& [begin, size] : columns)
    if (begin < line.size()) cells.push_back(trimmed(line.substr(begin, size)));
  return cells;
}

class TrackerReader {
 public:
  TrackerReader(const std::string& path, std::string_view text) : text_(text) {
    report_.path = path;
  }

  TrackerReport read() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = text_.find('\n', at);
      report_.is_cut = end == std::string_view::npos;  // a number in a cut line may lack digits
      if (report_.is_cut) break;
      std::string_view line = text_.substr(at, end - at);
      if (line.ends_with('\r')) line.remove_suffix(1);
      read_line(line);
      at = end + 1;
    }
    if (section_ == Section::none)
      throw Error(report_.path,
                  "is no report of a memory tracker: no line \"Iteration N FUNCTION Peak ... "
                  "memory stats:\"");
    flush();
    report_.is_cut |= !ends_ || section_ != Section::modules || table_ != Table::none;
    return std::move(report_);
  }

 private:
  enum class Section : std::uint8_t { none, peak, modules };
  enum class Table : std::uint8_t { none, header, rows };

  void leave_out() { ++report_.left_out; }

  void read_line(std::string_view line) {
    const std::string_view words = trimmed(line);
    if (!words.empty()) {
      ends_ = is_rule(words, '-') && !after_title_;
      after_title_ = read_title(words);
    }
    if (after_title_) return;
    if (section_ == Section::none) return;
    if (const Columns columns = columns_of(line); !columns.empty()) return rule(columns);
    if (table_ != Table::none) return read_cells(line);
    if (words.empty() || is_rule(words, '-') || words == "No memory tracked.") return flush();
    const bool is_named = words.starts_with("Module:") || words.starts_with("Device:");
    if (line.starts_with('\t') && !is_named) return read_kind(words);
    flush();
    if (words.starts_with("Module:"))
      row_ = {.module = std::string(trimmed(words.substr(7)))};
    else if (words.starts_with("Device:"))
      row_.device = trimmed(words.substr(7));
    else if (words.starts_with("# ") && words.ends_with(':'))
      row_.call = whole_number<std::int64_t>(words.substr(2, words.size() - 3)).value_or(1);
    else
      row_.state = words;
  }

  // "Iteration 2 training_step Peak FSDP memory stats:"
  bool read_title(std::string_view words) {
    constexpr std::string_view kStart = "Iteration ";
    if (!words.starts_with(kStart) || !words.ends_with("memory stats:")) return false;
    const std::size_t peak = words.rfind(" Peak ");
    const std::size_t modules = words.rfind(" Modulewise ");
    const std::size_t end = std::min(peak, modules);
    const std::size_t space = words.find(' ', kStart.size());
    if (end == std::string_view::npos || space >= end) return false;
    flush();
    if (section_ != Section::none && modules == std::string_view::npos)
      throw Error(report_.path, "another report of a memory tracker begins in it: split the file");
    section_ = modules == std::string_view::npos ? Section::peak : Section::modules;
    report_.iteration =
        whole_number<std::int64_t>(words.substr(kStart.size(), space - kStart.size())).value_or(0);
    report_.function = words.substr(space + 1, end - space - 1);
    return true;
  }

  // --- tables

  void rule(const Columns& columns) {
    columns_ = columns;
    if (table_ == Table::none) headers_.clear();
    table_ = table_ == Table::none     ? Table::header
             : table_ == Table::header ? Table::rows
                                       : Table::none;
  }

  void read_cells(std::string_view line) {
    const std::vector<std::string_view> cells = cells_of(line, columns_);
    if (table_ == Table::header) {
      headers_.assign(cells.begin(), cells.end());
      return;
    }
    if (cells.size() != columns_.size() || cells.size() != headers_.size()) return leave_out();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& header = headers_[i];
      if (header == "Device")
        row_.device = cells[i] == ".." ? row_.device : cells[i];
      else if (header != "State & Call")
        add(header, cells[i]);
      else if (cells[i] != "..")
        read_state(cells[i]);
    }
    flush();
  }

  // "Peak Forward # 1"
  void read_state(std::string_view text) {
    const std::size_t sign = text.rfind(" # ");
    row_.state = text.substr(0, sign);
    row_.call = sign == std::string_view::npos
                    ? 1
                    : whole_number<std::int64_t>(text.substr(sign + 3)).value_or(1);
  }

  // --- lines

  void read_kind(std::string_view words) {
    const std::size_t colon = words.rfind(':');
    if (colon == std::string_view::npos) return leave_out();
    add(words.substr(0, colon), trimmed(words.substr(colon + 1)));
  }

  void add(std::string_view kind, std::string_view amount) {
    const bool is_negative = amount.starts_with('-');
    const auto bytes = parse_bytes(is_negative ? amount.substr(1) : amount);
    if (!bytes || *bytes > static_cast<std::uint64_t>(INT64_MAX)) return leave_out();
    if (section_ == Section::modules) report_.is_rounded |= !amount.ends_with(" B");
    constexpr std::size_t kMostKinds = 100;  // a tracker has 13
    auto found = std::ranges::find(report_.kinds, kind);
    if (found == report_.kinds.end()) {
      if (report_.kinds.size() == kMostKinds) return leave_out();
      found = report_.kinds.insert(found, std::string(kind));
    }
    const auto index = static_cast<std::size_t>(found - report_.kinds.begin());
    if (row_.bytes.size() <= index) row_.bytes.resize(index + 1);
    const auto value = static_cast<std::int64_t>(*bytes);
    row_.bytes[index] = is_negative ? -value : value;
  }

  // Ends the row, if it has bytes. The next one has the same module, state and device until it says
  // otherwise.
  void flush() {
    if (row_.bytes.empty()) return;
    std::vector<TrackerRow>& rows = section_ == Section::peak ? report_.peak : report_.modules;
    rows.push_back(row_);
    row_.bytes.clear();
  }

  std::string_view text_;
  TrackerReport report_;
  Section section_ = Section::none;
  Table table_ = Table::none;
  Columns columns_;
  std::vector<std::string> headers_;
  TrackerRow row_;
  bool after_title_ = false;
  bool ends_ = false;  // the last line is a rule that follows no title
};

}  // namespace

std::int64_t bytes_of(const TrackerReport& report, const TrackerRow& row, std::string_view kind) {
  const auto found = std::ranges::find(report.kinds, kind);
  const auto index = static_cast<std::size_t>(found - report.kinds.begin());
  return index < row.bytes.size() ? row.bytes[index] : 0;
}

TrackerReport parse_tracker_report(const std::string& path, std::string_view text) {
  return TrackerReader(path, text).read();
}

}  // namespace traceloom
