// Open files, and questions to the file system: the end of a chain of links, a file without a name.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace traceloom {

// Descriptor: owns an open file.
//
//   Descriptor file(open("rank3.json", O_WRONLY | O_CLOEXEC));
//   if (file < 0) throw system_error("rank3.json", errno);
//   write(file, ...);
//   if (!file.close()) throw system_error("rank3.json", errno);   // or the destructor closes it

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  // Returns -1 if there is no open file.
  operator int() const { return number_; }  // NOLINT(google-explicit-constructor)
  // Returns false, with the reason in errno, if the file system reports only now that there was no
  // room. Some do (NFS, quotas).
  bool close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0 || errno == EINTR;
  }

 private:
  int number_;
};

// end_of_links: the path at the end of a chain of symbolic links.
//
//   if (const auto end = end_of_links("latest.json")) write_to(*end);   // "run7/merged.json"

// Returns the path itself if it is no link; the file need not exist. Returns nullopt for more links
// than Linux follows.
inline std::optional<std::filesystem::path> end_of_links(std::filesystem::path target) {
  constexpr int kMostLinks = 40;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code not_a_link;
    const std::filesystem::path next = std::filesystem::read_symlink(target, not_a_link);
    if (not_a_link) return target;
    target = target.parent_path() / next;
  }
  return std::nullopt;
}

// A file without a name, for bytes that do not fit into memory or have to be read again.
//
//   const Descriptor file = open_unnamed_file(temporary_folder());

// Returns $TMPDIR, or /tmp if that is not set.
inline std::string temporary_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder == nullptr || *folder == '\0' ? "/tmp" : folder;
}

// Opens a file that only this user can read and write. The file disappears with the process,
// however the process ends. Returns -1 and sets errno if the file cannot be created.
inline Descriptor open_unnamed_file(const std::string& folder) {
  Descriptor unnamed(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (unnamed >= 0) return unnamed;
  // Some file systems do not support O_TMPFILE.
  std::string path = folder + "/.traceloom.XXXXXX";
  Descriptor named(mkostemp(path.data(), O_CLOEXEC));
  if (named >= 0) unlink(path.c_str());
  return named;
}

}  // namespace traceloom
