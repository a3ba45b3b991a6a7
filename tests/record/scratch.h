// Scratch: a folder for a test that is gone when the test ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "traceloom-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  // Writes into the file itself, as a file that is open elsewhere needs it.
  void write(const std::string& name, const std::string& text = "[]\n") const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  std::string text(const std::string& name) const {
    std::ostringstream out;
    out << std::ifstream(path_ / name).rdbuf();
    return out.str();
  }
  void remove(const std::string& name) const { std::filesystem::remove(path_ / name); }
  bool has(const std::string& name) const { return std::filesystem::exists(path_ / name); }

 private:
  std::filesystem::path path_;
};
