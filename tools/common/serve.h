// serve_files: lets the Perfetto viewer in a browser fetch files from this machine, and nobody
// else.
//
//   const FileServer server({{.name = "merged.json", .type = "application/json", .path = path}},
//   {}); say(tool, Tone::note, "open " + server.viewer_link("merged.json")); server.run();
//
// It listens on 127.0.0.1 only, while it runs. The files stand below a random path, which is only
// in the link. A request from the page of another site (Origin) or by another name of this machine
// (Host, against DNS that is rebound) is refused. Other programs of this machine that know the path
// can read the files.
//
// The server is Boost.Beast's parser and writer; the rules are ours.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace traceloom {

inline constexpr char kServedTrace[] = "merged.json";

struct ServedFile {
  std::string name;  // in the address
  std::string type;  // "application/json"
  std::string path;  // of the file; empty: `content` is served
  std::string content = {};
};

struct ServeOptions {
  // ui.perfetto.dev may fetch from this port of 127.0.0.1 and from no other.
  std::uint16_t port = 9001;
  std::string once = {};  // run() ends when the viewer has the file of this name; empty: never
};

class FileServer {
 public:
  // Begins to listen. Throws Error if the port is in use.
  FileServer(std::vector<ServedFile> files, ServeOptions options);
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  // Returns "http://127.0.0.1:9001/<random>/merged.json".
  std::string link(std::string_view name) const;
  // Returns the address that makes ui.perfetto.dev fetch that file.
  std::string viewer_link(std::string_view name) const;

  // Replaces what is served under a name.
  void set_content(std::string_view name, const std::string& content);

  // Answers requests until `once` was sent, or a signal ends the process.
  void run();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The options of a command that serves its result.
struct Serving {
  bool is_wanted = false;
  bool is_once = false;
  std::uint16_t port = ServeOptions().port;

  ServeOptions options() const { return {port, is_once ? kServedTrace : ""}; }
};

// Adds --serve and --once, and --port, which the help does not show; `what` is served: "the merged
// trace".
void add_serve(CLI::App& app, Serving& serving, const std::string& what, const std::string& group);

// Throws UsageError for --once or --port without --serve.
void check_serving(const Serving& serving, bool has_port);

// Prints the links, of the page only if it has a name.
void announce(std::string_view tool, const FileServer& server, const std::string& page);

}  // namespace traceloom
