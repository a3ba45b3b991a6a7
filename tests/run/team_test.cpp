// A run that several processes have read is the run that one has read, down to its numbers.
#include "input/input_list.h"
#include "run/run.h"
#include "support/thread_transport.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>

using namespace traceloom;

namespace {

void write_span(std::string& text, const HostSpan& span) {
  text += fmt::format("{} {} {} {}\n", span.start_ns, span.end_ns, span.label, span.track);
}

void write_part(std::string& text, const EventColumns& part) {
  text += fmt::format("part of file {}\n", part.file);
  for (const HostSpan& span : part.hosts) write_span(text, span);
  for (const OperatorSpan& span : part.operators) {
    write_span(text, span);
    text += fmt::format("{} {}\n", span.external, span.arguments);
  }
  for (const HostSpan& span : part.frames) write_span(text, span);
  for (const CallSpan& span : part.calls) {
    write_span(text, span);
    text += fmt::format("{} {}\n", span.correlation, span.external);
  }
  for (const DeviceSpan& span : part.devices) {
    write_span(text, span);
    text += fmt::format("{} {} {} {} {}\n", span.correlation, span.external, span.device,
                        span.stream, span.detail);
  }
  for (const MarkedSpan& span : part.marks) {
    write_span(text, span);
    text += fmt::format("{} {} {} {}\n", span.number, span.epoch, static_cast<int>(span.mark),
                        span.arguments);
  }
  for (const UnknownSpans& spans : part.unknown)
    text += fmt::format("{} {} {} {}\n", spans.track, spans.detail, spans.count, spans.total_ns);
  for (const MemorySample& sample : part.memory)
    text +=
        fmt::format("{} {} {} {}\n", sample.start_ns, sample.track, sample.bytes, sample.address);
  for (const CounterSample& sample : part.counters)
    text += fmt::format("{} {} {} {} {}\n", sample.start_ns, sample.label, sample.track, sample.key,
                        sample.value);
}

// All that a run holds, as text.
std::string text_of(const Run& run) {
  std::string text;
  for (const RunFile& file : run.files)
    text += fmt::format("{} {} {} {} {} {} {} {} {}\n", file.path, file.rank.value_or(-1),
                        file.events, file.text_bytes, file.error, file.offset_ns, file.producer,
                        file.span_ns, file.problems.kinds().size());
  for (std::uint32_t i = 0; i < run.labels.size(); ++i)
    text += fmt::format("label {} {}\n", run.labels.name(i), run.labels.category(i));
  for (std::uint32_t i = 0; i < run.tracks.size(); ++i)
    text +=
        fmt::format("track {} {} {}\n", run.tracks.file(i), run.tracks.pid(i), run.tracks.tid(i));
  for (std::uint32_t i = 0; i < run.details.size(); ++i)
    text += fmt::format("detail {}\n", run.details[i]);
  for (const RankEvents& rank : run.ranks) {
    text += fmt::format("rank {}, {} steps\n", rank.rank, rank.steps.list.size());
    for (const EventColumns& part : rank.parts) write_part(text, part);
  }
  return text;
}

}  // namespace

TEST_CASE("run of a team: the same columns, whatever is gathered") {
  for (const char* const folder : {"cycles", "devices", "merge/ok", "straggler", "broken"}) {
    CAPTURE(folder);
    RunRequest request;
    request.inputs = expand_inputs({std::string(TRACELOOM_SOURCE_DIR "/testdata/") + folder});
    request.threads = 1;
    request.keep_going = true;
    for (const bool all : {false, true}) {
      request.details = request.arguments = request.frames = request.samples = request.arrows = all;
      const std::string alone = text_of(read_run(request));
      for (const std::size_t processes : {1, 2, 3, 5, 8}) {
        CAPTURE(processes);
        run_as_team(processes, [&](Team& team) {
          RunRequest own = request;
          own.team = &team;
          const Run run = read_run(own);
          CHECK(text_of(run) == (team.is_first() ? alone : std::string()));
        });
      }
    }
  }
}
