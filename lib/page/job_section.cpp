// The whole job: what a repair would gain, and what its stages do.
#include "analysis/job/job_reports.h"
#include "base/problems.h"
#include "page/sections.h"

namespace traceloom {

void write_job_section(HtmlWriter& html, const PageRun& page) {
  if (page.run.ranks.size() < 2) {
    html.element("p", "One rank is here: give those of all ranks to see what holds up the job.");
    return;
  }
  try {
    const Report gains = what_if_report(page.run, {}, {});
    for (const std::string& line : gains.headline) html.element("p", line);
    write_tables(html, page, gains, "What each repair alone would gain", kMostBars);
  } catch (const Error& lacks_operations) {
    html.element("p", lacks_operations.problem());
  }
  if (!find_mesh(page.run).splits_model()) return;
  const Report bubbles = bubbles_report(page.run);
  html.element("h3", "Stages");
  html.element("p", bubbles.headline.empty() ? "No step counts." : bubbles.headline.front());
  write_tables(html, page, bubbles, "What each stage does");
}

}  // namespace traceloom
