#include "common/command_spec.h"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace traceloom;

namespace {

OptionSpec option_with(const std::string& value) {
  return {.names = {"-b", "--by"}, .value = value};
}

}  // namespace

TEST_CASE("command_spec: a value with | is a choice, and one with ,... a list of them") {
  using Words = std::vector<std::string>;
  CHECK(alternatives_of(option_with("a|bc|d")) == Words{"a", "bc", "d"});
  CHECK(alternatives_of(option_with("a|bc,...")) == Words{"a", "bc"});
  CHECK(alternatives_of(option_with("min|keep|NS")) == Words{"min", "keep"});
  CHECK(alternatives_of(option_with("FILE")).empty());
  CHECK(alternatives_of(option_with("NAME,...")).empty());
  CHECK_FALSE(is_list(option_with("a|b")));
  CHECK(is_list(option_with("a|b,...")));
  CHECK_FALSE(is_list(option_with("NAME,...")));
}

TEST_CASE("command_spec: how an option is typed") {
  CHECK(usage_of(option_with("")) == "-b, --by");
  CHECK(usage_of(option_with("a|b")) == "-b, --by a|b");
  CHECK(usage_of({.names = {"--loader"}, .value = "TIME", .may_lack_value = true}) ==
        "--loader [TIME]");
  CHECK(usage_of({.names = {"TRACE"}, .takes_many = true}) == "TRACE...");
}

TEST_CASE("command_spec: the spec has what CLI11 knows, but nothing hidden") {
  CLI::App app("Tool\nWords", "tool");
  CLI::App* const command = app.add_subcommand("run", "Runs\nOne\nTwo")->group("Group");
  app.add_subcommand("secret", "Hidden")->group("");
  std::vector<std::string> files;
  int number = 0;
  bool hidden = false;
  command->add_option("FILE", files, "Files")->required();
  command->add_option("-n,--number", number, "Number\nMore")->type_name("N")->default_str("7");
  command->add_flag("--secret", hidden, "Hidden")->group("");
  const CommandSpec spec = spec_of(app, "tool");
  CHECK(spec.summary == "Tool");
  CHECK(spec.details == "Words");
  CHECK(spec.synopsis == "COMMAND [options]");
  REQUIRE(spec.commands.size() == 1);
  const CommandSpec& run = spec.commands[0];
  CHECK(run.path == "tool run");
  CHECK(run.group == "Group");
  CHECK(run.details == "One\nTwo");
  CHECK(run.synopsis == "[options] FILE...");
  REQUIRE(run.groups.size() == 1);
  REQUIRE(run.groups[0].options.size() == 2);
  const OptionSpec& option = run.groups[0].options[0];
  CHECK(option.names == std::vector<std::string>{"-n", "--number"});
  CHECK(option.value == "N");
  CHECK(option.help == "Number");
  CHECK(option.details == "More");
  CHECK(option.default_value == "7");
}
