// The sections of the page, in their order. Each writes what is in it, also if the run has nothing
// for it: then it says why.
#pragma once

#include "analysis/waits/step_roles.h"
#include "page/page_parts.h"
#include "page/page_tree.h"

#include <optional>
#include <vector>

namespace traceloom {

// What several sections need, computed once.
struct PageFacts {
  std::vector<RankRoles> roles;  // of all steps
  // The rank that the verdict names.
  std::optional<std::int64_t> verdict_rank;
};

// Returns the rank that the verdict names, for PageFacts.
std::optional<std::int64_t> write_overview(HtmlWriter& html, const PageSource& source,
                                           const std::vector<RankRoles>& roles);
void write_time_section(HtmlWriter& html, const PageSource& source, const PageFacts& facts);
void write_comm_section(HtmlWriter& html, const PageSource& source);
void write_device_section(HtmlWriter& html, const PageSource& source);
void write_work_section(HtmlWriter& html, const PageSource& source);
// `tree` is nullptr if the traces could be read only once.
void write_code_section(HtmlWriter& html, const PageSource& source, const PageTree* tree);
void write_timeline_section(HtmlWriter& html, const PageSource& source, const PageFacts& facts);
void write_memory_section(HtmlWriter& html, const PageSource& source);
void write_files_section(HtmlWriter& html, const PageSource& source);
void write_definitions(HtmlWriter& html);

}  // namespace traceloom
