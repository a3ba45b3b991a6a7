// write_wait_matrix: who waits for whom, rank by rank.
//
// A rank's wait in a step counts for the rank that came last in it (RankWaits::critical). If there
// are more ranks than have room, those that wait longest and those that are waited for longest are
// shown.
#pragma once

#include "analysis/waits/rank_waits.h"
#include "page/page_parts.h"

namespace traceloom {

void write_wait_matrix(HtmlWriter& html, const PageSource& source, const RankWaits& waits);

}  // namespace traceloom
