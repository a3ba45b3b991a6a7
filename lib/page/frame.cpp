#include "page/frame.h"

#include "page/assets.h"
#include "page/html/base64.h"

#include <fmt/format.h>

namespace traceloom {
namespace {

std::string hash_of(const PageAsset& asset) {
  return "'sha256-" + base64(bytes_of_hex(asset.sha256)) + "'";
}

// Nothing is fetched, sent, framed or run but the style and the two scripts of this page.
std::string policy() {
  return fmt::format(
      "default-src 'none'; script-src {} {}; style-src {}; base-uri 'none'; form-action 'none'",
      hash_of(kPageScript), hash_of(kTimelineScript), hash_of(kPageStyle));
}

void write_asset(HtmlWriter& html, std::string_view element, const PageAsset& asset) {
  html.raw(fmt::format("<{}>", element));
  html.raw(asset.text);
  html.raw(fmt::format("</{}>\n", element));
}

}  // namespace

void begin_page(HtmlWriter& html, std::string_view title,
                const std::vector<std::pair<std::string_view, std::string_view>>& sections) {
  html.raw("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n");
  html.single("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy()}});
  html.raw("\n<meta name=viewport content=\"width=device-width, initial-scale=1\">\n");
  html.raw("<meta name=referrer content=no-referrer>\n");
  html.element("title", title);
  html.line();
  write_asset(html, "style", kPageStyle);
  html.raw("</head>\n<body>\n<header>");
  html.element("h1", title);
  html.raw("</header>\n<nav aria-label=Contents><ol>");
  for (const auto& [id, name] : sections) {
    html.open("li");
    html.element("a", name, {{"href", fmt::format("#{}", id)}});
    html.close();
  }
  html.raw("</ol></nav>\n<main>\n");
}

void end_page(HtmlWriter& html, std::string_view command,
              const std::vector<std::pair<std::string_view, std::string_view>>& short_names) {
  html.raw("</main>\n<footer>");
  html.text("Written by trace-stats " TRACELOOM_VERSION ": ");
  html.element("code", command);
  for (const auto& [name, arguments] : short_names) {
    html.raw("<details>");
    html.element("summary", fmt::format("What {} stands for", name));
    html.element("code", arguments);
    html.raw("</details>");
  }
  html.raw("</footer>\n");
  write_asset(html, "script", kPageScript);
  write_asset(html, "script", kTimelineScript);
  html.raw("</body>\n</html>\n");
}

}  // namespace traceloom
