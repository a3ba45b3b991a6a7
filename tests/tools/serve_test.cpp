#include "common/serve.h"

#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace traceloom;

namespace {

int connect_to(std::uint16_t port) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(client >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  return client;
}

void send_to(int client, const std::string& request) {
  REQUIRE(send(client, request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
}

// The answer to what was sent, to its end.
std::string answer_to(int client) {
  std::string answer;
  char part[4096];
  for (ssize_t got = 0; (got = recv(client, part, sizeof(part), 0)) > 0;)
    answer.append(part, static_cast<std::size_t>(got));
  close(client);
  return answer;
}

std::string answer_of(std::uint16_t port, const std::string& request) {
  const int client = connect_to(port);
  send_to(client, request);
  return answer_to(client);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// "http://127.0.0.1:4711/0123abcd/merged.json"
struct Place {
  explicit Place(const std::string& link) {
    const std::size_t colon = link.rfind(':');
    const std::size_t slash = link.find('/', colon);
    port = static_cast<std::uint16_t>(std::stoi(link.substr(colon + 1, slash - colon - 1)));
    path = link.substr(slash);
  }
  std::string get(const std::string& more, const std::string& verb = "GET",
                  const std::string& target = "") const {
    return answer_of(port, request(more, verb, target));
  }
  std::string request(const std::string& more, const std::string& verb = "GET",
                      const std::string& target = "") const {
    return verb + ' ' + (target.empty() ? path : target) + " HTTP/1.1\r\nConnection: close\r\n" +
           more + "\r\n";
  }
  std::string host() const { return "Host: 127.0.0.1:" + std::to_string(port) + "\r\n"; }

  std::uint16_t port;
  std::string path;
};

}  // namespace

TEST_CASE("serve: the viewer gets the trace, nobody else, and then it ends") {
  const TemporaryFolder folder;
  std::string trace = "[" + std::string(3'000'000, ' ') + "]";
  const std::string file = folder.write("merged.json", trace);
  FileServer server(
      {{"report.html", "text/html", "", "page"}, {"merged.json", "application/json", file}},
      {.port = 0, .once = "merged.json"});
  const Place page(server.link("report.html"));
  const Place place(server.link("merged.json"));
  CHECK(server.link("merged.json").starts_with("http://127.0.0.1:"));
  CHECK(place.path.size() == 1 + 32 + 1 + std::string("merged.json").size());
  CHECK(server.viewer_link("merged.json") ==
        "https://ui.perfetto.dev/#!/?url=" + server.link("merged.json"));
  std::thread thread([&] { server.run(); });
  const std::string viewer = "Origin: https://ui.perfetto.dev\r\n";

  CHECK(page.get(page.host()).ends_with("\r\n\r\npage"));
  CHECK(!has(page.get(page.host()), "Access-Control"));
  CHECK(place.get(place.host() + "Origin: https://evil.example\r\n").starts_with("HTTP/1.1 403"));
  CHECK(place.get(place.host() + "Origin: null\r\n").starts_with("HTTP/1.1 403"));
  CHECK(place.get("Host: evil.example\r\n").starts_with("HTTP/1.1 403"));
  CHECK(place.get("").starts_with("HTTP/1.1 403"));
  CHECK(place.get(place.host(), "GET", "/merged.json").starts_with("HTTP/1.1 404"));
  CHECK(
      place.get(place.host(), "GET", place.path + "/../../etc/passwd").starts_with("HTTP/1.1 404"));
  CHECK(place.get(place.host(), "POST").starts_with("HTTP/1.1 405"));
  CHECK(has(place.get(place.host(), "POST"), "Allow: GET, OPTIONS\r\n"));
  CHECK(place.get(place.host(), "HEAD").ends_with("\r\n\r\n"));  // without a body
  CHECK(place.get(place.host() + viewer + "Origin: https://evil.example\r\n")
            .starts_with("HTTP/1.1 403"));
  CHECK(place.get(place.host() + "Origin: \r\n").starts_with("HTTP/1.1 403"));
  CHECK(place.get(place.host() + "Host: evil.example\r\n").starts_with("HTTP/1.1 403"));
  CHECK(place.get(place.host() + "Sec-Fetch-Site: cross-site\r\n").starts_with("HTTP/1.1 403"));
  // Without the viewer's Origin it is no end: curl looks at it.
  CHECK(place.get(place.host()).starts_with("HTTP/1.1 200"));
  CHECK(answer_of(place.port, "nonsense\r\n\r\n").empty());
  CHECK(answer_of(place.port, "GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x')).empty());
  const std::string preflight = place.get(place.host() + viewer, "OPTIONS");
  CHECK(preflight.starts_with("HTTP/1.1 204"));
  CHECK(has(preflight, "Access-Control-Allow-Private-Network: true\r\n"));

  const std::string answer = place.get(place.host() + viewer);
  thread.join();  // it has ended by itself
  CHECK(answer.starts_with("HTTP/1.1 200"));
  CHECK(has(answer, "Access-Control-Allow-Origin: https://ui.perfetto.dev\r\n"));
  CHECK(has(answer, "Content-Length: 3000002\r\n"));
  CHECK(answer.ends_with("\r\n\r\n" + trace));
}

TEST_CASE("serve: a file that is gone does not end it") {
  const TemporaryFolder folder;
  FileServer server({{"merged.json", "application/json", folder.path("gone.json")}},
                    {.port = 0, .once = "merged.json"});
  const Place place(server.link("merged.json"));
  std::thread thread([&] { server.run(); });
  const std::string viewer = "Origin: https://ui.perfetto.dev\r\n";
  CHECK(place.get(place.host() + viewer).starts_with("HTTP/1.1 410"));
  folder.write("gone.json", "[]");
  CHECK(place.get(place.host() + viewer).ends_with("\r\n\r\n[]"));
  thread.join();
}

TEST_CASE("serve: connections that ask nothing keep nobody out") {
  FileServer server(
      {{"report.html", "text/html", "", "page"}, {"merged.json", "application/json", "", "[]"}},
      {.port = 0, .once = "merged.json"});
  const Place page(server.link("report.html"));
  const Place trace(server.link("merged.json"));
  std::thread thread([&] { server.run(); });
  std::vector<int> idle;
  for (int i = 0; i < 40; ++i) idle.push_back(connect_to(page.port));
  const int late = connect_to(page.port);
  send_to(late, page.request(page.host()));
  timeval patience{5, 0};
  setsockopt(late, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const std::string answer = answer_to(late);
  CHECK(answer.starts_with("HTTP/1.1 200"));
  CHECK(answer.ends_with("\r\n\r\npage"));
  char byte = 0;
  setsockopt(idle.front(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  CHECK(recv(idle.front(), &byte, 1, 0) == 0);  // the oldest one made room
  patience = {0, 100'000};
  setsockopt(idle.back(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  CHECK(recv(idle.back(), &byte, 1, 0) == -1);
  CHECK(errno == EAGAIN);
  for (const int client : idle) close(client);
  // The page that hands the trace to the viewer ends it, too.
  CHECK(trace.get(trace.host() + "Sec-Fetch-Site: same-origin\r\n").ends_with("[]"));
  thread.join();
}

TEST_CASE("serve: a port in use is an error with a next step") {
  const FileServer first({}, {.port = 0});
  const Place place(first.link("x"));
  try {
    const FileServer second({}, {.port = place.port});
    FAIL("it listens twice");
  } catch (const std::exception& error) {
    CHECK(std::string(error.what()) == "127.0.0.1:" + std::to_string(place.port) +
                                           ": Address already in use; end what uses this port "
                                           "(another --serve?)");
  }
}
