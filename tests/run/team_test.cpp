// A run that several processes have read is the run that one has read, down to its numbers.
#include "input/input_list.h"
#include "run/run.h"
#include "support/thread_transport.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

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

std::string text_of_parts(const RankEvents& rank) {
  std::string text;
  for (const EventColumns& part : rank.parts) write_part(text, part);
  return text;
}

// All that a run holds, without the events, as text.
std::string text_of_facts(const Run& run) {
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
    text += fmt::format("rank {} {} {} {} {}\n", rank.rank, rank.kinds.any, rank.kinds.devices,
                        rank.kinds.frames, rank.kinds.waits);
    for (const Step& step : rank.steps.list)
      text += fmt::format("step {} {} {} {}\n", step.number, step.run, step.time.from_ns,
                          step.time.to_ns);
    for (const Interval& time : rank.unrecorded)
      text += fmt::format("unrecorded {} {}\n", time.from_ns, time.to_ns);
  }
  return text;
}

std::string text_of(const Run& run) {
  std::string text = text_of_facts(run);
  for (const RankEvents& rank : run.ranks) text += text_of_parts(rank);
  return text;
}

constexpr const char* kFolders[] = {"cycles", "devices", "merge/ok", "straggler", "broken"};

RunRequest request_of(const char* folder) {
  RunRequest request;
  request.inputs = expand_inputs({std::string(TRACELOOM_SOURCE_DIR "/testdata/") + folder});
  request.threads = 1;
  request.keep_going = true;
  return request;
}

}  // namespace

TEST_CASE("run of a team: the same columns, whatever is gathered") {
  for (const char* const folder : kFolders) {
    CAPTURE(folder);
    RunRequest request = request_of(folder);
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

TEST_CASE("run of a team: spread, all processes know it, and one has the events of each rank") {
  for (const char* const folder : kFolders) {
    CAPTURE(folder);
    RunRequest request = request_of(folder);
    request.details = request.arguments = request.frames = request.samples = request.arrows = true;
    const Run alone = read_run(request);
    request.spread = true;
    for (const std::size_t processes : {1, 2, 3, 5, 8}) {
      CAPTURE(processes);
      std::vector<Run> runs(processes);
      run_as_team(processes, [&](Team& team) {
        RunRequest own = request;
        own.team = &team;
        runs[team.rank()] = read_run(own);
      });
      for (const Run& run : runs) CHECK(text_of_facts(run) == text_of_facts(alone));
      for (std::size_t rank = 0; rank < alone.ranks.size(); ++rank) {
        std::size_t holders = 0;
        for (const Run& run : runs) {
          const bool is_here = run.ranks[rank].is_here;
          holders += is_here ? 1 : 0;
          CHECK(text_of_parts(run.ranks[rank]) ==
                (is_here ? text_of_parts(alone.ranks[rank]) : std::string()));
        }
        CHECK(holders == 1);
      }
    }
  }
}
