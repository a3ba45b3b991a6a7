// Clocks and repairs, and the formulas of the numbers.
#include "analysis/reports/check_report.h"
#include "analysis/reports/info_report.h"
#include "page/sections.h"

namespace traceloom {
namespace {

constexpr PageDefinition kDefinitions[] = {
    {"Step",
     "A span that the framework marks: ProfilerStep#N, Composer's batch with its wait for data, an "
     "iteration of "
     "an inference engine. The profiler loses the end of the last one, so it does not count."},
    {"Role",
     "Each instant of a step counts for the first of these that covers it: kernel, memcpy, memset, "
     "communication, runtime, dataloader, cpu, host_code, other. So the roles add up to the step, "
     "and communication "
     "and dataloader are what no kernel hides."},
    {"Share",
     "A part of the steps that its line names, divided by all their time: sum of parts / sum of "
     "steps."},
    {"Mean, median, p99",
     "Over the steps that count. The median and p99 are the values at 50 % and 99 % of the sorted "
     "list "
     "(nearest rank), not between two."},
    {"Waiting",
     "Ranks leave a collective together. A rank's time in it beyond that of the rank with the "
     "least is waiting; "
     "the rank with the least came last. No clocks are compared."},
    {"Transfer", "A rank's time in a collective without the waiting."},
    {"Delay a step",
     "The time by which a step would be shorter if the rank that came last were as fast as the "
     "next one."},
    {"Bus GB/s",
     "bytes / time, times 2(n-1)/n for an all-reduce and (n-1)/n for all-gather, reduce-scatter "
     "and all-to-all "
     "of n ranks, as nccl-tests counts. GB are 10^9 bytes."},
    {"Compute, idle (devices)",
     "From the first to the last work of a device: compute is the union of kernels without "
     "collectives, exposed communication and copies are what lies outside of it, idle is the "
     "rest."},
    {"Self time",
     "A span's time without the spans inside it. Device self time: work that it launched, and none "
     "of its "
     "children."},
    {"Launch delay", "From the begin of the call to the begin of its work on the device."},
    {"Occupancy, SM efficiency",
     "Estimates of the profiler for each kernel, weighted by duration: min(1, blocks per SM)."},
    {"Clock offset",
     "What is added to the times of a file: from clock syncs, base times of the host, or "
     "collectives, which "
     "all ranks leave together."},
    {"Time left out",
     "The timeline keeps the longest spans of each row. Shades show where others are, and how much "
     "of the "
     "time they cover."},
};

}  // namespace

void write_files_section(HtmlWriter& html, const PageSource& source) {
  Report info = info_report(source.run);
  add_clocks(source.run, info);
  write_tables(html, source, check_report(source.run).report,
               {.command = "check", .caption = "Problems of each file"});
  write_tables(html, source, info, {.command = "info", .caption = "Files"});
}

void write_definitions(HtmlWriter& html) {
  write_definition_list(html, kDefinitions);
}

}  // namespace traceloom
