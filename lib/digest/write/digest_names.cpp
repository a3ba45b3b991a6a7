#include "digest/write/digest_names.h"

#include "base/error.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string_view>

namespace traceloom {
namespace {

namespace fs = std::filesystem;

// The name of the trace, with the folders between it and the argument that led to it; of several
// arguments, a folder keeps its own name, too.
fs::path place_of(const Input& input, const std::vector<std::string>& arguments) {
  const fs::path path(input.path);
  if (input.is_named || input.found_by.empty()) return path.filename();
  fs::path folder(arguments[input.found_by.front()]);
  std::error_code error;
  if (!fs::is_directory(folder, error)) return path.filename();
  if (!folder.has_filename()) folder = folder.parent_path();
  const fs::path place =
      path.lexically_relative(arguments.size() > 1 ? folder.parent_path() : folder);
  return place.empty() || *place.begin() == ".." ? path.filename() : place;
}

}  // namespace

std::string digest_name(const std::string& trace) {
  std::string_view name = trace;
  for (const std::string_view end : {".gz", ".json", ".log"})
    if (name.ends_with(end)) name.remove_suffix(end.size());
  return fmt::format("{}.digest", name);
}

std::vector<std::string> digest_targets(const std::vector<Input>& inputs,
                                        const std::vector<std::string>& arguments,
                                        const std::string& folder) {
  std::vector<std::string> targets;
  std::map<std::string, std::string> trace_of;
  for (const Input& input : inputs) {
    const fs::path place = place_of(input, arguments);
    std::string target =
        (fs::path(folder) / place.parent_path() / digest_name(place.filename().string())).string();
    if (const auto [known, is_new] = trace_of.try_emplace(target, input.path); !is_new)
      throw UsageError(
          fmt::format("{} and {} would have the same digest, {}; write them to two "
                      "folders",
                      known->second, input.path, target));
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace traceloom
