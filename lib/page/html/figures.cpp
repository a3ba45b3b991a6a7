#include "page/html/figures.h"

#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceloom {
namespace {

// 0.01 % of a figure is a tenth of a pixel.
std::string percent(double share) {
  std::string text = fmt::format("{:.2f}", 100 * share);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + '%';
}

void write_part(HtmlWriter& html, const BarPart& part, const std::string& place) {
  html.raw(fmt::format("<rect class={} {}><title>", part.role, place));
  html.text(part.words);
  html.raw("</title></rect>");
}

// The scale holds for all lines of a figure.
struct Scale {
  std::int64_t start_ns;
  double length_ns;
  double least;
  double room;
};

Scale scale_of(const Curve& curve) {
  double least = 0;
  double most = curve.top;
  std::int64_t start = curve.points.front().at_ns;
  std::int64_t end = start;
  for (const auto* points : {&curve.points, &curve.second})
    for (const CurvePoint& point : *points) {
      least = std::min(least, point.value);
      most = std::max(most, point.value);
      start = std::min(start, point.at_ns);
      end = std::max(end, point.at_ns);
    }
  return {start, std::max(static_cast<double>(end) - static_cast<double>(start), 1.0), least,
          most > least ? most - least : 1};
}

void write_line(HtmlWriter& html, const std::vector<CurvePoint>& points, const Scale& scale,
                bool has_steps, std::string_view attributes) {
  if (points.empty()) return;
  html.raw(fmt::format("<polyline{} points=\"", attributes));
  double before = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = 1000 *
                     (static_cast<double>(points[i].at_ns) - static_cast<double>(scale.start_ns)) /
                     scale.length_ns;
    const double y = 98 - 96 * (points[i].value - scale.least) / scale.room;
    if (has_steps && i > 0) html.raw(fmt::format("{:.1f},{:.1f} ", x, before));
    html.raw(fmt::format("{:.1f},{:.1f} ", x, y));
    before = y;
  }
  html.raw("\"/>");
}

}  // namespace

BarPart time_part(std::string_view role, std::string_view name, std::int64_t ns,
                  std::int64_t room_ns) {
  return {role, static_cast<double>(ns) / static_cast<double>(room_ns),
          fmt::format("{} {}", name, format_duration(ns))};
}

void write_legend(HtmlWriter& html, const std::vector<std::string_view>& roles) {
  html.open("ul", {{"class", "legend"}});
  for (const std::string_view role : roles) {
    html.raw(fmt::format(
        "<li><svg aria-hidden=true><rect class={} width=100% height=100% rx=2 /></svg>", role));
    html.text(role);
  }
  html.close_line();
}

void write_stacked_bars(HtmlWriter& html, std::string_view words, const std::vector<Bar>& bars) {
  html.open("div", {{"class", "bars"}, {"role", "group"}, {"aria-label", words}});
  for (const Bar& bar : bars) {
    std::string all = bar.label + ": " + bar.total;
    for (const BarPart& part : bar.parts) all += "; " + part.words;
    html.element("span", bar.label, {{"class", "label"}});
    html.open("svg", {{"role", "img"}, {"aria-label", all}});
    double x = 0;
    for (const BarPart& part : bar.parts) {
      write_part(html, part,
                 fmt::format("x={} width={} height=100%", percent(x), percent(part.share)));
      x += part.share;
    }
    html.close();
    html.element("span", bar.total, {{"class", "n"}});
    html.line();
  }
  html.close_line();
}

void write_columns(HtmlWriter& html, std::string_view words, const std::vector<Bar>& bars,
                   std::string_view first, std::string_view last) {
  html.open("svg", {{"class", "columns"}, {"role", "img"}, {"aria-label", words}});
  const double width = 1 / static_cast<double>(std::max<std::size_t>(bars.size(), 1));
  double x = 0;
  for (const Bar& bar : bars) {
    double top = 1;
    for (const BarPart& part : bar.parts) {
      top -= part.share;
      write_part(html, part,
                 fmt::format("x={} y={} width={} height={}", percent(x), percent(top),
                             percent(width * (bars.size() > 200 ? 1 : 0.9)), percent(part.share)));
    }
    x += width;
  }
  html.close();
  html.open("div", {{"class", "axis"}});
  html.element("span", first);
  html.element("span", last);
  html.close_line();
}

void write_curve(HtmlWriter& html, const Curve& curve) {
  if (curve.points.empty()) return;
  const Scale scale = scale_of(curve);
  html.open("div");
  html.element("h4", curve.title);
  html.open("svg", {{"class", "curve"},
                    {"viewBox", "0 0 1000 100"},
                    {"preserveAspectRatio", "none"},
                    {"role", "img"},
                    {"aria-label", curve.title + ": " + curve.words}});
  const auto x_of = [&](std::int64_t ns) {
    return std::clamp(
        1000 * (static_cast<double>(ns) - static_cast<double>(scale.start_ns)) / scale.length_ns,
        0.0, 1000.0);
  };
  std::string bands;
  for (const auto& [from_ns, to_ns] : curve.bands)
    if (x_of(to_ns) > x_of(from_ns))
      bands += fmt::format("M{:.1f} 0V100H{:.1f}V0", x_of(from_ns), x_of(to_ns));
  if (!bands.empty()) html.raw(fmt::format("<path class=bands d=\"{}\"/>", bands));
  if (curve.mark_ns)
    html.raw(fmt::format("<path class=mark d=\"M{:.1f} 0V100\"/>", x_of(*curve.mark_ns)));
  for (const std::int64_t ns : curve.failed_ns)
    html.raw(fmt::format("<path class=\"mark failed\" d=\"M{:.1f} 0V100\"/>", x_of(ns)));
  write_line(html, curve.points, scale, curve.has_steps, "");
  write_line(html, curve.second, scale, curve.has_steps, " class=second");
  html.close();
  html.open("div", {{"class", "axis"}});
  html.element("span", format_duration(scale.start_ns));
  html.element("span", curve.words);
  html.element("span",
               format_duration(scale.start_ns + static_cast<std::int64_t>(scale.length_ns)));
  html.close();
  html.close_line();
}

}  // namespace traceloom
