#include "common/serve.h"

#include "base/problems.h"
#include "common/terminal.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <list>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

namespace traceloom {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Request = http::request<http::empty_body>;

constexpr std::string_view kViewer = "https://ui.perfetto.dev";
// No request of a browser is longer, or slower to arrive.
constexpr std::uint32_t kMostHeaderBytes = 16'384;
constexpr std::chrono::seconds kPatience{10};
// A reader that takes nothing for so long has gone.
constexpr std::chrono::seconds kReaderPatience{60};
constexpr std::size_t kMostConnections = 32;

std::string random_word() {
  std::random_device random;
  std::string word;
  for (int i = 0; i < 4; ++i) word += fmt::format("{:08x}", random());
  return word;
}

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

bool is_of_viewer(const Request& request) {
  return view_of(request[http::field::origin]) == kViewer;
}

template <typename Response>
void set_common(const Request& request, Response& response) {
  response.version(request.version());
  response.keep_alive(request.keep_alive());
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  if (!is_of_viewer(request)) return;
  response.set(http::field::access_control_allow_origin, "https://ui.perfetto.dev");
  response.set(http::field::vary, "Origin");
}

http::response<http::string_body> short_answer(const Request& request, http::status status,
                                               std::string text) {
  http::response<http::string_body> response;
  response.result(status);
  set_common(request, response);
  response.set(http::field::content_type, "text/plain");
  if (request.method() != http::verb::head) response.body() = std::move(text);
  if (status == http::status::method_not_allowed) response.set(http::field::allow, "GET, OPTIONS");
  response.prepare_payload();
  return response;
}

// Answers the question that a browser asks before a site may fetch from this machine.
http::response<http::string_body> preflight_answer(const Request& request) {
  auto response = short_answer(request, http::status::no_content, "");
  response.set(http::field::access_control_allow_methods, "GET");
  response.set("Access-Control-Allow-Private-Network", "true");
  return response;
}

// A response and how far it is sent.
template <typename Body>
struct Sending {
  explicit Sending(http::response<Body> what) : response(std::move(what)), parts(response) {}

  http::response<Body> response;
  http::response_serializer<Body> parts;
};

}  // namespace

class FileServer::Impl {
 public:
  Impl(std::vector<ServedFile> files, ServeOptions options)
      : files_(std::move(files)), options_(std::move(options)), word_(random_word()) {
    const Tcp::endpoint local(asio::ip::address_v4::loopback(), options_.port);
    beast::error_code error;
    acceptor_.open(local.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(local, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      throw Error(fmt::format("127.0.0.1:{}", options_.port),
                  error.message() + "; end what uses this port (another --serve?)");
    options_.port = acceptor_.local_endpoint().port();
  }

  std::string link(std::string_view name) const {
    return fmt::format("http://127.0.0.1:{}/{}/{}", options_.port, word_, name);
  }
  void set_content(std::string_view name, const std::string& content) {
    for (ServedFile& file : files_)
      if (file.name == name) file.content = content;
  }
  void run() {
    is_running_ = true;
    accept();
    context_.run();
    is_running_ = false;
  }

 private:
  // The requests of one connection, one after the other. Each pending operation holds it.
  class Talk : public std::enable_shared_from_this<Talk> {
   public:
    Talk(Tcp::socket socket, Impl& server) : stream_(std::move(socket)), server_(server) {
      ++server_.connections_;
    }
    ~Talk() {
      server_.idle_.remove(this);
      server_.end_talk();
    }
    Talk(const Talk&) = delete;
    Talk& operator=(const Talk&) = delete;

    void read() {
      server_.idle_.push_back(this);
      parser_.emplace();
      parser_->header_limit(kMostHeaderBytes);
      stream_.expires_after(kPatience);
      http::async_read(stream_, buffer_, *parser_,
                       [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                         if (!error) self->answer(self->parser_->release());
                       });
    }

    // What waits for it ends with an error, and so does it.
    void cancel() { stream_.cancel(); }

   private:
    void answer(const Request& request) {
      server_.idle_.remove(this);
      goes_on_ = request.keep_alive();
      const ServedFile* const file = server_.find_file(request);
      if (file == nullptr || request.method() != http::verb::get)
        send(server_.refusal(request, file), false);
      else
        send_file(request, *file);
    }

    void send_file(const Request& request, const ServedFile& file) {
      // The page that is served beside it hands it to the viewer.
      const bool is_for_viewer =
          is_of_viewer(request) || view_of(request["Sec-Fetch-Site"]) == "same-origin";
      const bool is_last = is_for_viewer && file.name == server_.options_.once;
      if (file.path.empty()) {
        http::response<http::string_body> response;
        set_common(request, response);
        response.set(http::field::content_type, file.type);
        response.body() = file.content;
        response.prepare_payload();
        send(std::move(response), is_last);
        return;
      }
      beast::error_code error;
      http::file_body::value_type body;
      body.open(file.path.c_str(), beast::file_mode::scan, error);
      if (error) {
        send(short_answer(request, http::status::gone, "the file is gone\n"), false);
        return;
      }
      http::response<http::file_body> response;
      set_common(request, response);
      response.set(http::field::content_type, file.type);
      response.body() = std::move(body);
      response.prepare_payload();
      send(std::move(response), is_last);
    }

    template <typename Body>
    void send(http::response<Body> response, bool is_last) {
      send_part(std::make_shared<Sending<Body>>(std::move(response)), is_last);
    }

    // Each part that the reader takes gives it new time.
    template <typename Body>
    void send_part(const std::shared_ptr<Sending<Body>>& sending, bool is_last) {
      stream_.expires_after(kReaderPatience);
      http::async_write_some(stream_, sending->parts,
                             [self = shared_from_this(), sending, is_last](
                                 const beast::error_code& error, std::size_t) {
                               if (error) return;
                               if (!sending->parts.is_done())
                                 self->send_part(sending, is_last);
                               else if (is_last)
                                 self->server_.context_.stop();
                               else if (self->goes_on_)
                                 self->read();
                             });
    }

    beast::tcp_stream stream_;
    Impl& server_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::empty_body>> parser_;
    bool goes_on_ = false;
  };

  void accept() {
    acceptor_.async_accept([this](const beast::error_code& error, Tcp::socket socket) {
      if (error) {
        // Too many open files, or a client that has gone: others can be answered later.
        timer_.expires_after(std::chrono::milliseconds(100));
        timer_.async_wait([this](const beast::error_code&) { accept(); });
        return;
      }
      std::make_shared<Talk>(std::move(socket), *this)->read();
      if (connections_ < kMostConnections) return accept();
      // The one that has asked nothing for longest makes room for others, which wait in the
      // system's queue until a connection ends.
      is_full_ = true;
      if (idle_.size() > 1) idle_.front()->cancel();
    });
  }
  // The context destroys the last talks when nothing is accepted any more.
  void end_talk() {
    --connections_;
    if (!is_full_ || !is_running_) return;
    is_full_ = false;
    accept();
  }

  // Returns nullptr if the request may not have it, or there is none.
  const ServedFile* find_file(const Request& request) const {
    if (!is_allowed(request)) return nullptr;
    const std::string_view target = view_of(request.target());
    const auto found = std::find_if(files_.begin(), files_.end(), [&](const ServedFile& file) {
      return target == fmt::format("/{}/{}", word_, file.name);
    });
    return found == files_.end() ? nullptr : &*found;
  }
  // A page of another site sends its Origin, or says that it is one. No browser repeats these
  // fields.
  bool is_allowed(const Request& request) const {
    if (request.count(http::field::origin) > 1 || request.count(http::field::host) != 1)
      return false;
    const bool is_viewer = is_of_viewer(request);
    if (request.count(http::field::origin) == 1 && !is_viewer) return false;
    if (view_of(request["Sec-Fetch-Site"]) == "cross-site" && !is_viewer) return false;
    const std::string_view host = view_of(request[http::field::host]);
    return host == fmt::format("127.0.0.1:{}", options_.port) ||
           host == fmt::format("localhost:{}", options_.port);
  }
  http::response<http::string_body> refusal(const Request& request, const ServedFile* file) const {
    if (!is_allowed(request))
      return short_answer(request, http::status::forbidden, "for ui.perfetto.dev alone\n");
    if (file == nullptr) return short_answer(request, http::status::not_found, "no such file\n");
    if (request.method() == http::verb::options) return preflight_answer(request);
    return short_answer(request, http::status::method_not_allowed, "GET only\n");
  }

  std::vector<ServedFile> files_;
  ServeOptions options_;
  std::string word_;
  // Before the context, whose end destroys the last Talks.
  std::size_t connections_ = 0;
  bool is_running_ = false;
  std::list<Talk*> idle_;  // that have no request yet, or no further one; the longest first
  bool is_full_ = false;   // nothing is accepted until a talk ends
  asio::io_context context_{1};
  Tcp::acceptor acceptor_{context_};
  asio::steady_timer timer_{context_};
};

FileServer::FileServer(std::vector<ServedFile> files, ServeOptions options)
    : impl_(std::make_unique<Impl>(std::move(files), std::move(options))) {}
FileServer::~FileServer() = default;

std::string FileServer::link(std::string_view name) const {
  return impl_->link(name);
}

std::string FileServer::viewer_link(std::string_view name) const {
  return fmt::format("{}/#!/?url={}", kViewer, link(name));
}

void FileServer::set_content(std::string_view name, const std::string& content) {
  impl_->set_content(name, content);
}

void FileServer::run() {
  impl_->run();
}

void add_serve(CLI::App& app, Serving& serving, const std::string& what, const std::string& group) {
  app.add_flag("--serve", serving.is_wanted,
               fmt::format("Let ui.perfetto.dev fetch {}\n"
                           "Prints a link for your browser and serves on 127.0.0.1, to that site "
                           "alone, until Ctrl-C.",
                           what))
      ->group(group);
  app.add_flag("--once", serving.is_once, "With --serve: end when the viewer has the trace")
      ->group(group);
  // Not in the help: the viewer accepts the usual port alone. It is for ssh's forwarding, and
  // tests.
  const auto take_port = [&serving](const CLI::results_t& words) {
    const char* const end = words.back().data() + words.back().size();
    const auto [stop, error] = std::from_chars(words.back().data(), end, serving.port);
    if (error != std::errc() || stop != end)
      throw UsageError(fmt::format("--port: '{}' is not a port from 0 to 65535", words.back()));
    return true;
  };
  app.add_option("--port", take_port)->group("");
}

void check_serving(const Serving& serving, bool has_port) {
  if (!serving.is_wanted && (serving.is_once || has_port))
    throw UsageError(fmt::format("{} goes with --serve", serving.is_once ? "--once" : "--port"));
}

void announce(std::string_view tool, const FileServer& server, const std::string& page) {
  if (!page.empty()) say(tool, Tone::note, "the page: " + server.link(page));
  say(tool, Tone::note, "in the viewer: " + server.viewer_link(kServedTrace));
  say(tool, Tone::note, "serving on 127.0.0.1 for ui.perfetto.dev alone; Ctrl-C ends it");
}

}  // namespace traceloom
