#include "common/reference.h"

#include "common/completions.h"
#include "common/man_page.h"
#include "output/file_sink.h"

#include <filesystem>
#include <memory>
#include <vector>

namespace traceloom {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  const std::unique_ptr<Sink> file = open_file_sink(path.string());
  file->write(text);
  file->close();
}

void write_man_pages(const CommandSpec& tool, const std::filesystem::path& folder) {
  std::vector<std::string> related;
  for (const char* const name : {"trace-merge", "trace-record", "trace-stats"})
    if (name != tool.name) related.emplace_back(name);
  write_file(folder / (page_name(tool) + ".1"), man_page(tool, related));
  for (const CommandSpec& command : tool.commands)
    write_file(folder / (page_name(command) + ".1"), man_page(command, {tool.name}));
}

}  // namespace

void write_reference(const CommandSpec& tool, const std::string& folder) {
  const std::filesystem::path share = folder;
  write_man_pages(tool, share / "man/man1");
  write_file(share / "bash-completion/completions" / tool.name, bash_completion(tool));
  write_file(share / "zsh/site-functions" / ("_" + tool.name), zsh_completion(tool));
  write_file(share / "fish/vendor_completions.d" / (tool.name + ".fish"), fish_completion(tool));
}

}  // namespace traceloom
