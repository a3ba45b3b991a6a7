#include "page/page.h"

#include "analysis/waits/rank_waits.h"
#include "page/frame.h"
#include "page/sections.h"

namespace traceloom {
namespace {

std::string title_of(const Run& run) {
  if (run.files.empty()) return "Traceloom: no traces";
  const std::string& path = run.files.front().path;
  return run.files.size() == 1 ? "Traceloom: " + page_name(path)
                               : "Traceloom: " + page_name(path) + " and " +
                                     std::to_string(run.files.size() - 1) + " more";
}

}  // namespace

void prepare_for_page(RunRequest& request) {
  request.details = true;
  request.samples = true;
  request.python = true;
}

std::string write_page(const Run& run, const PageOptions& options) {
  std::string page;
  HtmlWriter html(page);
  const PageSource source{run, options.arguments};
  begin_page(html, title_of(run),
             {{"overview", "Overview"},
              {"time", "Time"},
              {"comm", "Communication"},
              {"devices", "Devices"},
              {"work", "Kernels, operators"},
              {"code", "Calls"},
              {"timeline", "Timeline"},
              {"memory", "Memory, host"},
              {"files", "Clocks, repairs"},
              {"definitions", "Definitions"}});
  PageFacts facts{find_all_roles(run), {}};
  facts.verdict_rank = write_overview(html, source, facts.roles);
  write_time_section(html, source, facts);
  write_comm_section(html, source);
  write_device_section(html, source);
  write_work_section(html, source);
  write_code_section(html, source, options.tree ? &*options.tree : nullptr);
  write_timeline_section(html, source, facts);
  write_memory_section(html, source);
  write_files_section(html, source);
  write_definitions(html);
  end_page(html, source.command("report"),
           source.are_arguments_long() ? source.arguments : std::string());
  return page;
}

}  // namespace traceloom
