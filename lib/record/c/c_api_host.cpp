// The host's samples of traceloom.h.
#include "record/c/c_api_support.h"
#include "record/c/traceloom.h"
#include "record/host/host_recorder.h"

#include <memory>
#include <string>
#include <vector>

using namespace traceloom::record;

struct traceloom_host {
  explicit traceloom_host(const HostSamplerOptions& options)
      : recorder(options), missing(recorder.missing()) {}
  const HostRecorder recorder;
  const std::vector<std::string> missing;
};

namespace {

HostSamplerOptions host_options_of(const traceloom_host_options* given) {
  const traceloom_host_options from =
      complete(given, traceloom_host_options TRACELOOM_HOST_OPTIONS_INIT, "traceloom_host_options");
  HostSamplerOptions to;
  to.interval_ns = from.interval_ns;
  to.cpu = from.cpu != 0;
  to.memory = from.memory != 0;
  to.disk = from.disk != 0;
  to.network = from.network != 0;
  to.process = from.process != 0;
  return to;
}

}  // namespace

extern "C" {

int traceloom_host_share(traceloom_host_options* options, const traceloom_options* place) {
  if (options == nullptr || place == nullptr) return 0;
  return guarded([&] {
    traceloom_host_options all = complete(
        options, traceloom_host_options TRACELOOM_HOST_OPTIONS_INIT, "traceloom_host_options");
    RunPlace of_this;
    of_this.local_rank =
        complete(place, traceloom_options TRACELOOM_OPTIONS_INIT, "traceloom_options").local_rank;
    const HostSamplerOptions share = host_options_for(of_this);
    all.cpu = share.cpu ? 1 : 0;
    all.memory = share.memory ? 1 : 0;
    all.disk = share.disk ? 1 : 0;
    all.network = share.network ? 1 : 0;
    all.process = share.process ? 1 : 0;
    give_back(all, *options);
  });
}

traceloom_host* traceloom_host_start(const traceloom_host_options* options) {
  traceloom_host* host = nullptr;
  guarded([&] { host = new traceloom_host(host_options_of(options)); });
  return host;
}

const char* traceloom_host_missing(const traceloom_host* host, size_t i) {
  return host == nullptr || i >= host->missing.size() ? nullptr : host->missing[i].c_str();
}

int traceloom_host_stop(traceloom_host* host) {
  return guarded([&] { const std::unique_ptr<traceloom_host> owned(host); });
}

}  // extern "C"
