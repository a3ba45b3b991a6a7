#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <traceloom/record/trace_handler.h>
#include <traceloom/recorder.h>
#include <vector>

using namespace traceloom::record;

namespace {

struct Count : TraceHandler {
  void duration(const DurationEvent&) override { ++durations; }
  int durations = 0;
};

int work(int value) {
  TRACELOOM_SCOPE("work", "test");
  return value + 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    Options options;
    options.folder = argv[1];
    options.overwrite = true;
    options.file_name = [](const Position&) { return std::string("cpp-rank0.json.gz"); };
    const auto count = std::make_shared<Count>();
    options.handlers.push_back(count);
    Session session(options);
    static const Marker loading("event/dataloader");
    std::vector<int> loader{1, 2, 3};
    int sum = 0;
    for (const int batch : timed(loader, loading)) sum += work(batch);
    std::thread([&] { sum += work(0); }).join();
    session.close();
    if (sum != 10 || count->durations != 7 || session.saved_traces().size() != 1) return 3;
    bool refused = false;
    options.folder = "/dev/null/none";
    try {
      const Session other(options);
    } catch (const std::exception& error) {
      refused = std::string(error.what()) == "/dev/null/none: Not a directory";
    }
    return refused ? 0 : 4;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
