#include "common/command_spec.h"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include <sstream>
#include <string>

using namespace traceloom;

TEST_CASE("help_formatter: colour is bold titles, coloured names and dim comments") {
  CLI::App app("Merges traces", "trace-merge");
  set_help_style(app, {.colour = true, .width = 80});
  app.set_help_flag("-h,--help", "Show this help")->group(kCommonGroup);
  set_examples(app, {{"all ranks", "trace-merge rank*.json"}});
  set_page(app, "docs/merge.md");
  CHECK(app.help() ==
        "Merges traces\n"
        "\n"
        "\x1b[1mUsage:\x1b[0m trace-merge [options]\n"
        "\n"
        "\x1b[1mExample:\x1b[0m\n"
        "  \x1b[2m# all ranks\x1b[0m\n"
        "  trace-merge rank*.json\n"
        "\n"
        "\x1b[1mCommon options:\x1b[0m\n"
        "  \x1b[36m-h, --help\x1b[0m                Show this help\n"
        "\n"
        "Definitions: docs/merge.md\n");
}

TEST_CASE("help_formatter: a long name moves the texts of its group, a longer one stands alone") {
  CLI::App app("Tool", "tool");
  set_help_style(app, {.colour = false, .width = 60});
  app.set_help_flag();
  std::string value;
  bool flag = false;
  app.add_flag("--flag", flag, "Text");
  app.add_option("--a-rather-long-option", value, "Text of it\nFor the manual")->type_name("VALUE");
  app.add_option("--an-option-that-is-longer", value, "Text")
      ->type_name("VALUE")
      ->default_str("all the cores");
  app.add_flag("--other", flag, "Text")->group("Other");
  CHECK(app.help() ==
        "Tool\n"
        "\n"
        "Usage: tool [options]\n"
        "\n"
        "Options:\n"
        "      --flag                        Text\n"
        "      --a-rather-long-option VALUE  Text of it\n"
        "      --an-option-that-is-longer VALUE\n"
        "                                    Text\n"
        "                                    [default: all the cores]\n"
        "\n"
        "Other:\n"
        "      --other               Text\n");
}

TEST_CASE("help_formatter: common options follow a command's own, and rare ones are last") {
  CLI::App app("Tool", "tool");
  set_help_style(app, {});
  app.set_help_flag("-h,--help", "Show this help")->group(kCommonGroup);
  bool flag = false;
  app.add_flag("--rare", flag, "Text")->group(kAdvancedGroup);
  app.add_flag("--shared", flag, "Text")->group(kCommonGroup);
  app.add_flag("--hidden", flag, "Text")->group("");
  app.add_flag("--own", flag, "Text");
  CHECK(app.help() ==
        "Tool\n"
        "\n"
        "Usage: tool [options]\n"
        "\n"
        "Options:\n"
        "      --own                 Text\n"
        "\n"
        "Common options:\n"
        "      --shared              Text\n"
        "  -h, --help                Show this help\n"
        "\n"
        "Advanced:\n"
        "      --rare                Text\n");
}

TEST_CASE("help_formatter: a list of commands has a line for each, in groups") {
  CLI::App app("Tool\nWith words about it", "tool");
  set_help_style(app, {});
  app.set_help_flag();
  app.add_subcommand("plain", "Shows this\nAnd more of it")->group("First");
  app.add_subcommand("richer", "Shows that")->group("Second");
  CHECK(app.help() ==
        "Tool\n"
        "\n"
        "With words about it\n"
        "\n"
        "Usage: tool COMMAND [options]   (COMMAND --help shows its options)\n"
        "\n"
        "First:\n"
        "  plain    Shows this\n"
        "\n"
        "Second:\n"
        "  richer   Shows that\n");
}

TEST_CASE("help_formatter: commands do not show the examples of their tool") {
  CLI::App app("Tool", "tool");
  set_help_style(app, {});
  set_examples(app, {{"tool", "tool x"}});
  CLI::App* plain = app.add_subcommand("plain", "Without examples");
  CLI::App* rich = app.add_subcommand("rich", "With examples");
  set_examples(*rich, {{"rich", "tool rich x"}});
  CHECK(plain->help().find("Example:") == std::string::npos);
  CHECK(rich->help().find("Example:\n  # rich\n  tool rich x\n") != std::string::npos);
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
