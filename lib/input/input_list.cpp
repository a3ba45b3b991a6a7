#include "input/input_list.h"

#include "base/ascii.h"
#include "base/file_system.h"
#include "base/problems.h"
#include "input/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <glob.h>
#include <map>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kTraceNames = "*.json, *.json.gz, *.json.zst or node_trace.*.log";

using FileId = std::pair<dev_t, ino_t>;
constexpr FileId kStdinId{};  // no file has this id

std::optional<FileId> file_id(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileId{status.st_dev, status.st_ino};
}

bool exists(const std::string& path) {
  return file_id(path).has_value();
}

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// A perfetto-tar of ours holds a manifest next to its traces; the manifest is no trace.
bool is_trace_name(std::string_view name) {
  if (name == "perfetto_manifest.json") return false;
  return name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".json.zst") ||
         (name.starts_with("node_trace.") && name.ends_with(".log"));
}

// True for a file that a user may take for a trace, and is_trace_name() does not.
bool is_nearly_trace_name(std::string_view name) {
  std::string lower = to_lower(name);
  for (const std::string_view packing : {".gz", ".zst", ".xz", ".bz2", ".lz4", ".zip"})
    if (lower.ends_with(packing)) lower.resize(lower.size() - packing.size());
  return name != "perfetto_manifest.json" &&
         (lower.ends_with(".json") || lower.ends_with(".trace"));
}

// Returns directory entries, because an entry knows its type without a further system call, unless
// it is a link.
std::vector<fs::directory_entry> entries_of(const std::string& directory) {
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    if (!entry->path().filename().native().starts_with('.')) entries.push_back(*entry);
  if (error) throw system_error(directory, error.value());
  std::ranges::sort(entries, [](const auto& a, const auto& b) {
    return natural_less(a.path().native(), b.path().native());
  });
  return entries;
}

// Appends the traces below `directory`, and files of other kinds. It follows links; `visited`
// breaks their loops and makes sure that a directory to which two links lead is taken once.
void collect_traces(const std::string& directory, std::set<FileId>& visited,
                    std::vector<std::string>& traces, OtherFiles& others) {
  const std::optional<FileId> id = file_id(directory);
  if (id && !visited.insert(*id).second) return;
  for (const fs::directory_entry& entry : entries_of(directory)) {
    std::error_code ignored;
    const std::string& path = entry.path().native();
    const std::string name = entry.path().filename().native();
    if (entry.is_directory(ignored))
      collect_traces(path, visited, traces, others);
    else if (!entry.is_regular_file(ignored) && entry.exists(ignored))
      continue;
    else if (may_have_kind(name))
      others.of_kind.push_back({.path = path, .is_found = true});
    else if (is_trace_name(name))  // also a link to a missing file: opening it reports the reason
      traces.push_back(path);
    else if (is_nearly_trace_name(name))
      others.other_names.push_back(path);
  }
}

// Returns the traces below `directory`; what it leaves out is appended to `other_files`, if that is
// given.
std::vector<std::string> traces_below(const std::string& directory, OtherFiles* other_files) {
  std::set<FileId> visited;
  std::vector<std::string> found;
  OtherFiles others;
  collect_traces(directory, visited, found, others);
  std::ranges::sort(found, natural_less);
  if (other_files == nullptr) return found;
  for (OtherFile& file : others.of_kind) file.kind = kind_of_file(file.path);
  std::erase_if(others.of_kind, [](const auto& file) { return file.kind == FileKind::unknown; });
  std::erase_if(found, [&](const std::string& path) {
    const JsonFile kind = json_file(path);
    if (kind == JsonFile::rows)
      others.of_kind.push_back({.kind = FileKind::memory_timeline, .path = path, .is_found = true});
    if (kind == JsonFile::other) other_files->no_traces.push_back(path);
    return kind != JsonFile::trace;
  });
  const auto append = [](auto& all, auto from, auto to) { all.insert(all.end(), from, to); };
  append(other_files->other_names, others.other_names.begin(), others.other_names.end());
  std::ranges::sort(others.of_kind, natural_less, &OtherFile::path);
  append(other_files->of_kind, others.of_kind.begin(), others.of_kind.end());
  return found;
}

// Returns ", but 8 pickles (...), which trace-stats memory reads" for the files from `first` on.
std::string words_of_kinds(const OtherFiles& others, std::size_t first) {
  std::map<FileKind, std::uint64_t> counts;
  for (std::size_t i = first; i < others.of_kind.size(); ++i) ++counts[others.of_kind[i].kind];
  std::string words;
  for (const auto& [kind, count] : counts) {
    const FileKindWords& said = describe(kind);
    words +=
        fmt::format("{} {}, which {}", words.empty() ? ", but" : ";",
                    count == 1 ? std::string(said.one) : fmt::format("{} {}", count, said.many),
                    said.what_to_do);
  }
  return words;
}

std::vector<std::string> pattern_matches(const std::string& pattern) {
  glob_t matches = {};
  const int result = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches);
  std::vector<std::string> found(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  globfree(&matches);
  if (result != 0 && result != GLOB_NOMATCH) throw Error(pattern, "the pattern cannot be expanded");
  std::ranges::sort(found, natural_less);
  return found;
}

// Returns the files that one argument (without its RANK=) stands for.
std::vector<std::string> expand_one(const std::string& path, MissingFile missing,
                                    OtherFiles* other_files) {
  if (path == "-") return {path};
  if (path.empty()) throw UsageError("the name of an input is empty (an unset variable?)");
  if (is_directory(path)) {
    const std::size_t known = other_files == nullptr ? 0 : other_files->of_kind.size();
    std::vector<std::string> found = traces_below(path, other_files);
    const bool has_others = other_files != nullptr && other_files->of_kind.size() > known;
    if (found.empty() && !(has_others && other_files->takes_memory))
      throw Error(path, fmt::format("the directory holds no trace ({}){}", kTraceNames,
                                    has_others ? words_of_kinds(*other_files, known) : ""));
    return found;
  }
  if (exists(path)) return {path};
  if (path.find_first_of("*?[") == std::string::npos) {
    if (missing == MissingFile::refuse) throw system_error(path, errno);
    return {path};
  }

  std::vector<std::string> files;
  for (const std::string& match : pattern_matches(path)) {
    if (!is_directory(match)) {
      files.push_back(match);
      continue;
    }
    const std::vector<std::string> below = traces_below(match, other_files);
    files.insert(files.end(), below.begin(), below.end());
  }
  if (files.empty() && (other_files == nullptr || other_files->of_kind.empty()))
    throw Error(path, "no file matches this pattern");
  return files;
}

// Notes where the files of a kind that an argument led to came from, from number `first` on, and
// moves those that it names there.
void take_kinds(const Input& given, std::size_t argument, std::size_t first,
                std::vector<std::string>& paths, OtherFiles& others) {
  if (others.takes_memory)
    std::erase_if(paths, [&](const std::string& path) {
      const FileKind kind = path == "-" ? FileKind::unknown : kind_of_file(path);
      const bool is_yaml = path.ends_with(".yaml") || path.ends_with(".yml");
      if (!is_memory_kind(kind) && kind != FileKind::memory_picture && !is_yaml) return false;
      others.of_kind.push_back({kind == FileKind::unknown ? FileKind::memory_stats : kind, path});
      return true;
    });
  for (std::size_t i = first; i < others.of_kind.size(); ++i) {
    others.of_kind[i].forced_rank = given.forced_rank;
    others.of_kind[i].argument = argument;
  }
}

// Splits "3=slow.json" into rank 3 and "slow.json".
Input split_rank(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0 || exists(argument))
    return {argument, std::nullopt};
  const std::string digits = argument.substr(0, equals);
  if (digits.starts_with('-') && digits.find_first_not_of(kDigits, 1) == std::string::npos)
    throw UsageError(fmt::format("{}: a rank is 0 or more", argument));
  if (digits.find_first_not_of(kDigits) != std::string::npos) return {argument, std::nullopt};

  std::int64_t rank = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), rank).ec != std::errc())
    throw UsageError(fmt::format("{}: the rank is too large", argument));
  if (equals + 1 == argument.size())
    throw UsageError(fmt::format("{}: a path must follow RANK=", argument));
  return {argument.substr(equals + 1), rank};
}

// Returns the end of the run of digits that starts at `position`.
std::size_t digits_end(std::string_view text, std::size_t position) {
  return std::min(text.find_first_not_of(kDigits, position), text.size());
}

// Returns the digits of the number at `position` without its leading zeros.
std::string_view significant_digits(std::string_view text, std::size_t position) {
  const std::size_t end = digits_end(text, position);
  const std::size_t first = std::min(text.find_first_not_of('0', position), end);
  return text.substr(first, end - first);
}

// '/' sorts first, so that a directory's files stay together, whatever other names begin like it.
int sort_value(char c) {
  return c == '/' ? 0 : static_cast<unsigned char>(c) + 1;
}

// `input` names the file `known` once more.
void take_again(Input& known, const Input& input) {
  if (known.forced_rank && input.forced_rank && known.forced_rank != input.forced_rank)
    throw UsageError(fmt::format("{}: given as rank {} and as rank {}", input.path,
                                 *known.forced_rank, *input.forced_rank));
  if (known.forced_rank.has_value() == input.forced_rank.has_value())
    known.named_again = input.path;
  if (!known.forced_rank) known.forced_rank = input.forced_rank;
  known.is_named = known.is_named || input.is_named;
  known.found_by.insert(known.found_by.end(), input.found_by.begin(), input.found_by.end());
}

// Makes the input for the file at `path`, to which the argument with that number leads.
Input found_input(const Input& given, const std::string& path, std::size_t argument) {
  Input input{path, given.forced_rank};
  input.is_named = path == given.path;
  if (!input.is_named) input.found_by.push_back(argument);
  return input;
}

}  // namespace

std::vector<Input> expand_inputs(const std::vector<std::string>& arguments, MissingFile missing,
                                 OtherFiles* other_files) {
  if (arguments.empty())
    throw UsageError("no input given; name trace files, a directory of them, or - for stdin");
  std::vector<Input> inputs;
  std::map<FileId, std::size_t> index_of;
  for (std::size_t number = 0; number < arguments.size(); ++number) {
    const std::size_t known_before = inputs.size();
    const Input given = split_rank(arguments[number]);
    const std::size_t known_others = other_files == nullptr ? 0 : other_files->of_kind.size();
    std::vector<std::string> paths = expand_one(given.path, missing, other_files);
    if (other_files != nullptr) take_kinds(given, number, known_others, paths, *other_files);
    for (const std::string& path : paths) {
      const Input input = found_input(given, path, number);
      const std::optional<FileId> id = input.path == "-" ? kStdinId : file_id(input.path);
      const auto [known, is_new] =
          id ? index_of.try_emplace(*id, inputs.size()) : std::pair{index_of.end(), true};
      if (is_new)
        inputs.push_back(input);
      else if (known->second < known_before)
        take_again(inputs[known->second], input);
    }
  }
  return inputs;
}

bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = significant_digits(a, i);
      const std::string_view y = significant_digits(b, j);
      if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
      i = digits_end(a, i);
      j = digits_end(b, j);
    } else if (a[i] != b[j]) {
      return sort_value(a[i]) < sort_value(b[j]);
    } else {
      ++i;
      ++j;
    }
  }
  if (i == a.size() && j == b.size())
    return a < b;  // rank1 and rank01 need an order, and always the same one
  return i == a.size();
}

bool same_file(const std::string& a, const std::string& b) {
  const std::optional<FileId> id = file_id(a);
  return id && id == file_id(b);
}

bool is_same_path(const std::string& a, const std::string& b) {
  // weakly_canonical() does not make a relative path absolute if nothing exists there, and it
  // treats a link to a missing file as a file.
  const auto canonical = [](const std::string& path) {
    std::error_code error;
    const fs::path absolute = fs::absolute(path, error);
    return fs::weakly_canonical(end_of_links(absolute).value_or(absolute), error);
  };
  return same_file(a, b) || canonical(a) == canonical(b);
}

bool is_input(const std::vector<Input>& inputs, const std::string& path) {
  std::error_code error;
  const std::string output = path == "-" ? "/dev/stdout" : path;
  // A terminal or a null device may be both input and output.
  if (path == "-" && !std::filesystem::is_regular_file(output, error)) return false;
  const std::optional<FileId> id = file_id(output);
  return id && std::ranges::any_of(inputs, [&](const Input& input) {
           return file_id(input.path == "-" ? "/dev/stdin" : input.path) == id;
         });
}

bool can_be_reread(const std::string& path) {
  if (path == "-") return false;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::is_regular_file(status) || fs::is_directory(status) || !fs::exists(status);
}

std::vector<std::string> paths_of(const std::vector<Input>& inputs) {
  std::vector<std::string> paths;
  paths.reserve(inputs.size());
  for (const Input& input : inputs) paths.push_back(input.path);
  return paths;
}

void refuse_repeated(const std::vector<Input>& inputs) {
  for (const Input& input : inputs) {
    if (!input.named_again) continue;
    throw UsageError(input.path == *input.named_again
                         ? fmt::format("{}: given twice; leave one out", input.path)
                         : fmt::format("{}: the same file as {}; leave one of the two out",
                                       *input.named_again, input.path));
  }
}

std::uint64_t stored_bytes(const std::vector<Input>& inputs) {
  std::uint64_t bytes = 0;
  for (const Input& input : inputs) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(input.path, error);
    if (error) return 0;
    bytes += size;
  }
  return bytes;
}

}  // namespace traceloom
