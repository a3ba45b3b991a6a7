#include "page/wait_matrix.h"

#include "base/saturating.h"
#include "base/units.h"
#include "page/page_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace traceloom {
namespace {

// Calls use(rank, late, ns) for each step in which one waited and the other came last.
template <typename Use>
void for_each_wait(const RankWaits& waits, Use use) {
  for (std::size_t rank = 0; rank < waits.ranks.size(); ++rank)
    for (std::size_t step = 0; step < waits.steps.size(); ++step)
      if (waits.critical[step] != rank)
        use(rank, std::size_t{waits.critical[step]}, waits.wait_ns[rank][step]);
}

// The places with the largest sums, ascending by place.
std::vector<std::size_t> largest(const std::vector<std::int64_t>& sums) {
  std::vector<std::size_t> places(sums.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return sums[a] > sums[b]; });
  places.resize(std::min(places.size(), kMostWaiters));
  std::sort(places.begin(), places.end());
  return places;
}

// Four levels of a colour, for the eye; the number stands in the cell.
int level_of(std::int64_t ns, std::int64_t most) {
  if (ns <= 0 || most <= 0) return 0;
  return 1 +
         static_cast<int>(std::min(3.0, 4 * static_cast<double>(ns) / static_cast<double>(most)));
}

}  // namespace

void write_wait_matrix(HtmlWriter& html, const PageSource& source, const RankWaits& waits) {
  if (waits.ranks.size() < 2 || waits.steps.empty()) return;
  std::vector<std::int64_t> waiting(waits.ranks.size(), 0);
  std::vector<std::int64_t> waited_for(waits.ranks.size(), 0);
  for_each_wait(waits, [&](std::size_t rank, std::size_t late, std::int64_t ns) {
    add_to(waiting[rank], ns);
    add_to(waited_for[late], ns);
  });
  const std::vector<std::size_t> rows = largest(waiting);
  const std::vector<std::size_t> columns = largest(waited_for);
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> sums;
  for (const std::size_t rank : rows)
    for (const std::size_t late : columns) sums[{rank, late}] = 0;
  std::int64_t most = 0;
  for_each_wait(waits, [&](std::size_t rank, std::size_t late, std::int64_t ns) {
    const auto sum = sums.find({rank, late});
    if (sum == sums.end()) return;
    add_to(sum->second, ns);
    most = std::max(most, sum->second);
  });
  if (most == 0) return;
  const auto steps = static_cast<std::int64_t>(waits.steps.size());
  const auto number = [&](std::size_t place) { return source.run.ranks[waits.ranks[place]].rank; };
  html.element("h3", "Who waits for whom, in a mean step");
  html.element("p",
               "A row waits for the rank of the column: in the steps in which that rank came last.",
               {{"class", "command"}});
  html.open("div", {{"class", "scroll"},
                    {"tabindex", "0"},
                    {"role", "region"},
                    {"aria-label", "Who waits for whom"}});
  html.open("table", {{"class", "heat"}, {"id", source.id("waits")}});
  html.raw("<thead><tr>");
  html.element("th", "Rank", {{"scope", "col"}});
  for (const std::size_t late : columns)
    html.element("th", fmt::format("for {}", number(late)), {{"scope", "col"}});
  html.raw("</thead><tbody>\n");
  for (const std::size_t rank : rows) {
    html.raw("<tr>");
    html.element("th", fmt::format("rank {}", number(rank)), {{"scope", "row"}});
    for (const std::size_t late : columns) {
      const std::int64_t ns = sums.at({rank, late});
      html.raw(fmt::format("<td class=h{} data-v={}>{}", level_of(ns, most), ns / steps,
                           rank == late ? "" : format_duration(ns / steps)));
    }
    html.line();
  }
  html.raw("</tbody>");
  html.close();
  html.close();
  html.line();
}

}  // namespace traceloom
