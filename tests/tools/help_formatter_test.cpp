#include "common/help_formatter.h"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace traceloom;

TEST_CASE("help_formatter: colour is bold titles, coloured names and dim comments") {
  CLI::App app("Merges traces", "trace-merge");
  set_help_style(app, {.colour = true, .width = 80});
  app.set_help_flag("-h,--help", "Show this help")->group(kGeneralGroup);
  set_examples(app, {{"all ranks", "trace-merge rank*.json"}});
  CHECK(app.help() ==
        "Merges traces\n"
        "\n"
        "\x1b[1mUsage:\x1b[0m trace-merge [options]\n"
        "\n"
        "\x1b[1mGeneral:\x1b[0m\n"
        "  \x1b[36m-h, --help\x1b[0m                Show this help\n"
        "\n"
        "\x1b[1mExamples:\x1b[0m\n"
        "  \x1b[2m# all ranks\x1b[0m\n"
        "  trace-merge rank*.json\n");
}

TEST_CASE("help_formatter: a long name stands on a line of its own, a default is not torn") {
  CLI::App app("Tool", "tool");
  set_help_style(app, {.colour = false, .width = 60});
  app.set_help_flag();
  std::string value;
  app.add_option("--a-rather-long-option", value, "Text that is wrapped at the width of it")
      ->type_name("VALUE")
      ->default_str("all the cores");
  CHECK(app.help() ==
        "Tool\n"
        "\n"
        "Usage: tool [options]\n"
        "\n"
        "Options:\n"
        "      --a-rather-long-option VALUE\n"
        "                            Text that is wrapped at the\n"
        "                            width of it\n"
        "                            [default: all the cores]\n");
}

TEST_CASE("help_formatter: commands do not show the examples of their tool") {
  CLI::App app("Tool", "tool");
  set_help_style(app, {});
  set_examples(app, {{"tool", "tool x"}});
  CLI::App* plain = app.add_subcommand("plain", "Without examples");
  CLI::App* rich = app.add_subcommand("rich", "With examples");
  set_examples(*rich, {{"rich", "tool rich x"}});
  CHECK(plain->help().find("Examples:") == std::string::npos);
  CHECK(rich->help().find("Examples:\n  # rich\n  tool rich x\n") != std::string::npos);
  CHECK(rich->help().find("tool x") == std::string::npos);
}

TEST_CASE("help_formatter: no line is wider than asked") {
  CLI::App app("A description of a tool that is much longer than one line of sixty columns can be",
               "tool");
  set_help_style(app, {.colour = false, .width = 60});
  std::string value;
  app.add_option("-x", value, "A description that is much longer than what is left of such a line");
  std::istringstream help(app.help());
  for (std::string line; std::getline(help, line);) CHECK_MESSAGE(line.size() <= 60, line);
}
