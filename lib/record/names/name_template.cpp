#include "record/names/name_template.h"

#include "base/ascii.h"
#include "base/problems.h"
#include "record/names/trace_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace traceloom::record {
namespace {

// A placeholder, and the value that it stands for.
template <typename Of, typename Value>
struct Placeholder {
  std::string_view name;
  Value Of::*value;
};
constexpr Placeholder<RunPlace, std::int64_t> kRunNumbers[] = {
    {"rank", &RunPlace::rank},
    {"local_rank", &RunPlace::local_rank},
    {"world_size", &RunPlace::world_size},
    {"local_world_size", &RunPlace::local_world_size},
    {"node_rank", &RunPlace::node_rank}};
constexpr Placeholder<Position, std::uint64_t> kPositionNumbers[] = {
    {"epoch", &Position::epoch},
    {"batch", &Position::batch},
    {"batch_in_epoch", &Position::batch_in_epoch},
    {"sample", &Position::sample},
    {"sample_in_epoch", &Position::sample_in_epoch},
    {"token", &Position::token},
    {"token_in_epoch", &Position::token_in_epoch}};
constexpr Placeholder<Position, double> kPositionSeconds[] = {{"total_wct", &Position::total_wct},
                                                              {"epoch_wct", &Position::epoch_wct},
                                                              {"batch_wct", &Position::batch_wct}};

// Writes seconds as Python does (36000.0 and 0.25), but never with an exponent.
std::string seconds_text(double seconds) {
  std::array<char, 400> buffer{};  // the largest double has 309 digits
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), seconds,
                                          std::chars_format::fixed);
  std::string text(buffer.data(), end);
  if (std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '-'; })) text += ".0";
  return text;
}

std::optional<std::string> text_of_run(std::string_view name, int digits, const RunIdentity& run) {
  if (name == "run_name" && digits == 0) return run.run_name;
  for (const auto& row : kRunNumbers)
    if (row.name == name) return fmt::format("{:0{}}", run.place.*row.value, digits);
  return std::nullopt;
}

std::optional<std::string> text_of_position(std::string_view name, int digits,
                                            const Position& position) {
  for (const auto& row : kPositionNumbers)
    if (row.name == name) return fmt::format("{:0{}}", position.*row.value, digits);
  for (const auto& row : kPositionSeconds)
    if (row.name == name && digits == 0) return seconds_text(position.*row.value);
  return std::nullopt;
}

bool names_position(std::string_view name) {
  return text_of_position(name, 0, {}).has_value();
}

// Reads the name and the digits of "rank", "rank:04" or "rank:04d"; returns nullopt for any other
// form.
std::optional<std::pair<std::string_view, int>> read_placeholder(std::string_view inside) {
  const std::size_t colon = inside.find(':');
  if (colon == std::string_view::npos) return std::pair(inside, 0);
  std::string_view form = inside.substr(colon + 1);
  if (form.ends_with('d')) form.remove_suffix(1);
  const int digits = form.starts_with('0') ? whole_number<int>(form).value_or(0) : 0;
  if (digits < 1 || digits > 20) return std::nullopt;
  return std::pair(inside.substr(0, colon), digits);
}

}  // namespace

NameTemplate::NameTemplate(std::string_view text) {
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) parts_.push_back({std::exchange(literal, {}), {}, 0});
  };
  while (!text.empty()) {
    if (text.starts_with("{{") || text.starts_with("}}")) {
      literal += text.front();
      text.remove_prefix(2);
      continue;
    }
    const std::size_t close = text.starts_with('{') ? text.find('}') : std::string_view::npos;
    const auto placeholder = close == std::string_view::npos
                                 ? std::nullopt
                                 : read_placeholder(text.substr(1, close - 1));
    if (!placeholder || placeholder->first.empty()) {
      literal += text.front();
      text.remove_prefix(1);
      continue;
    }
    end_literal();
    parts_.push_back({std::string(text.substr(0, close + 1)), std::string(placeholder->first),
                      placeholder->second});
    text.remove_prefix(close + 1);
  }
  end_literal();
}

std::string NameTemplate::expand(const RunIdentity& run, const Position* position) const {
  std::string name;
  for (const Part& part : parts_) {
    std::optional<std::string> value;
    if (!part.name.empty()) value = text_of_run(part.name, part.digits, run);
    if (!part.name.empty() && !value && position != nullptr)
      value = text_of_position(part.name, part.digits, *position);
    name += value ? *value : part.text;
  }
  return name;
}

bool NameTemplate::mentions(std::string_view name) const {
  return std::ranges::any_of(parts_, [&](const Part& part) { return part.name == name; });
}

bool NameTemplate::tells_ranks() const {
  return mentions("rank") || (mentions("local_rank") && mentions("node_rank"));
}

bool NameTemplate::tells_positions() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return names_position(part.name); });
}

// `any_rank` lets the ranks of all processes match, not only those of `run`. Placeholders of
// a position match any number.
bool NameTemplate::matches(std::string_view name, std::size_t part, const RunIdentity& run,
                           bool any_rank) const {
  if (part == parts_.size()) return name.empty();
  const Part& at = parts_[part];
  const bool is_rank = at.name == "rank" || at.name == "local_rank" || at.name == "node_rank";
  const bool any = names_position(at.name) || (any_rank && is_rank);
  if (!any) {
    const std::string literal =
        at.name.empty() ? at.text : text_of_run(at.name, at.digits, run).value_or(at.text);
    return name.starts_with(literal) &&
           matches(name.substr(literal.size()), part + 1, run, any_rank);
  }
  // A placeholder matches a whole number, or seconds with a point in them. A rank that the run does
  // not have does not match.
  const bool has_point = at.name.ends_with("_wct");
  std::size_t length = 0;
  while (length < name.size() && (is_digit(name[length]) || (has_point && name[length] == '.'))) {
    ++length;
    std::int64_t number = 0;
    std::from_chars(name.data(), name.data() + length, number);
    if (at.name == "rank" && number >= run.place.world_size) return false;
    if (matches(name.substr(length), part + 1, run, any_rank)) return true;
  }
  return false;
}

NameTemplate::Owner NameTemplate::owner_of(std::string_view name, const RunIdentity& run) const {
  if (matches(name, 0, run, false)) return Owner::this_rank;
  return matches(name, 0, run, true) ? Owner::other_rank : Owner::nobody;
}

namespace {

namespace fs = std::filesystem;

// Part of the name of a file that is being written, before ".json".
constexpr std::string_view kUnfinishedMark = ".unfinished";

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

void check_names(const TraceNames& names, const RunIdentity& run) {
  if (names.file.empty())
    throw std::invalid_argument(
        fmt::format("the name of trace files is empty (try {})", kDefaultFileName));
  const bool told =
      NameTemplate(names.folder).tells_ranks() || NameTemplate(names.file).tells_ranks();
  if (run.place.world_size > 1 && !told)
    throw std::invalid_argument(fmt::format(
        "the name of trace files '{}' is the same on all ranks; put {{rank}} in it", names.file));
}

// Returns whether a file may be there. A file that this rank itself could write is from an earlier
// run; a file that another rank could write is looked for by that rank.
bool may_be_there(std::string name, const TraceNames& names, const RunIdentity& run) {
  if (!names.merged.empty()) {
    const NameTemplate::Owner owner = NameTemplate(names.merged).owner_of(name, run);
    if (owner == NameTemplate::Owner::this_rank) return run.place.local_rank != 0;
    if (owner == NameTemplate::Owner::other_rank) return true;
  }
  if (const std::size_t mark = name.rfind(kUnfinishedMark); mark != std::string::npos)
    name.erase(mark, kUnfinishedMark.size());
  return NameTemplate(names.file).owner_of(name, run) == NameTemplate::Owner::other_rank;
}

void check_empty(const std::string& folder, const TraceNames& names, const RunIdentity& run) {
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (is_hidden(entries->path())) {
      entries.disable_recursion_pending();
      continue;
    }
    std::error_code ignored;  // a file that is gone again is no obstacle
    if (entries->is_directory(ignored)) continue;
    const std::string name = entries->path().lexically_relative(folder).string();
    if (may_be_there(name, names, run)) continue;
    throw Error(folder, fmt::format("is not empty ({}): choose another folder or run name, or "
                                    "allow to overwrite",
                                    name));
  }
  if (error) throw Error(folder, error.message());
}

}  // namespace

void prepare_folder(const TraceNames& names, const RunIdentity& run, OverwriteTraces overwrite) {
  check_names(names, run);
  const std::string folder = folder_of(names, run);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(folder, error.message());
  if (overwrite == OverwriteTraces::no) check_empty(folder, names, run);
}

std::string folder_of(const TraceNames& names, const RunIdentity& run) {
  return NameTemplate(names.folder).expand(run);
}

}  // namespace traceloom::record
