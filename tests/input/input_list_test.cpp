#include "input/input_list.h"

#include "base/problems.h"
#include "support/temporary_folder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace traceloom;
namespace fs = std::filesystem;

namespace {

using Paths = std::vector<std::string>;

// The paths below `folder`, without it.
Paths paths_in(const TemporaryFolder& folder, const std::vector<Input>& inputs) {
  Paths paths;
  for (const Input& input : inputs) {
    REQUIRE(input.path.starts_with(folder.path() + "/"));
    paths.push_back(input.path.substr(folder.path().size() + 1));
  }
  return paths;
}

std::string error_of(const Paths& arguments) {
  try {
    expand_inputs(arguments);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("input_list: natural order compares numbers as numbers, whatever their length") {
  CHECK(natural_less("rank2.json", "rank10.json"));
  CHECK_FALSE(natural_less("rank10.json", "rank2.json"));
  CHECK(natural_less("ep1-ba9-rank0", "ep1-ba10-rank0"));
  CHECK(natural_less("r99999999999999999999998", "r99999999999999999999999"));
  CHECK(natural_less("r2", "r0003"));
  CHECK(natural_less("a", "b"));
  CHECK(natural_less("rank", "rank1"));
  CHECK(natural_less("a.json", "a.json.gz"));
  CHECK(natural_less("a/b.json", "a.json"));  // a directory's files stay together
  CHECK_FALSE(natural_less("rank2", "rank2"));
}

TEST_CASE("input_list: natural order is a strict total order") {
  Paths names{"rank1",    "rank01", "rank001", "rank1a", "rank01a", "rank",  "rank0", "rank00",
              "1",        "01",     "a1b2",    "a01b1",  "a1b02",   "a/1/b", "a/01",  "",
              "\xc3\xa4", "a-1",    "a.1",     "10",     "9",       "9a",    "/",     "a//"};
  std::sort(names.begin(), names.end(), natural_less);
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = 0; j < names.size(); ++j) {
      CAPTURE(names[i]);
      CAPTURE(names[j]);
      CHECK(natural_less(names[i], names[j]) == (i < j));
    }
}

TEST_CASE("input_list: files stand for themselves, in the order given, whatever their names") {
  const TemporaryFolder folder;
  const std::string b = folder.write("b.txt", "");
  const std::string a = folder.write("a.json", "");
  CHECK(expand_inputs({b, "-", a}) ==
        std::vector<Input>{{b, std::nullopt}, {"-", std::nullopt}, {a, std::nullopt}});
}

TEST_CASE("input_list: a directory stands for the traces below it, in natural order") {
  const TemporaryFolder folder;
  for (const char* name :
       {"rank10.json", "rank2.json.gz", "rank1.pt.trace.json", "node_trace.1.log",
        "sub/deep/rank3.json", "sub/.hidden.json", ".git/rank9.json", "notes.txt", "job.log",
        "merged.gz", "sub2/table.csv", "x.json.bak", "perfetto_manifest.json"})
    folder.write(name, "[]");
  fs::create_directory(folder.path("directory.json"));
  CHECK(paths_in(folder, expand_inputs({folder.path()})) ==
        Paths{"node_trace.1.log", "rank1.pt.trace.json", "rank2.json.gz", "rank10.json",
              "sub/deep/rank3.json"});
}

TEST_CASE("input_list: a slash after a directory changes nothing but the slash") {
  const TemporaryFolder folder;
  const std::string path = folder.write("traces/rank0.json", "[]");
  CHECK(expand_inputs({folder.path("traces")})[0].path == path);
  CHECK(expand_inputs({folder.path("traces/")})[0].path == path);
}

TEST_CASE("input_list: follows links, also in circles") {
  const TemporaryFolder folder;
  folder.write("real/rank0.json", "[]");
  fs::create_directory_symlink("..", folder.path("real/up"));
  fs::create_directory_symlink(".", folder.path("real/same"));
  fs::create_directory_symlink("real", folder.path("a-link"));
  fs::create_symlink("itself.json", folder.path("itself.json"));
  CHECK(paths_in(folder, expand_inputs({folder.path()})) ==
        Paths{"a-link/rank0.json", "itself.json"});
}

TEST_CASE("input_list: a link to nothing is left for opening to complain about") {
  const TemporaryFolder folder;
  fs::create_symlink("gone.json", folder.path("rank0.json"));
  CHECK(paths_in(folder, expand_inputs({folder.path()})) == Paths{"rank0.json"});
}

TEST_CASE("input_list: a pattern stands for what it matches, in natural order") {
  const TemporaryFolder folder;
  for (const char* name : {"rank10.json", "rank2.json", "rank1.txt", ".rank0.json", "set/r1.json",
                           "set/r0.json", "empty/notes.txt"})
    folder.write(name, "[]");
  CHECK(paths_in(folder, expand_inputs({folder.path("rank*")})) ==
        Paths{"rank1.txt", "rank2.json", "rank10.json"});
  CHECK(paths_in(folder, expand_inputs({folder.path("rank?.json")})) == Paths{"rank2.json"});
  CHECK(paths_in(folder, expand_inputs({folder.path("rank[12]*")})) ==
        Paths{"rank1.txt", "rank2.json", "rank10.json"});
  CHECK(paths_in(folder, expand_inputs({folder.path("*e*t*")})) ==
        Paths{"set/r0.json", "set/r1.json"});
}

TEST_CASE("input_list: a file whose name looks like a pattern wins") {
  const TemporaryFolder folder;
  folder.write("a1.json", "");
  folder.write("a[1].json", "");
  CHECK(paths_in(folder, expand_inputs({folder.path("a[1].json")})) == Paths{"a[1].json"});
}

TEST_CASE("input_list: a file reached twice is taken once, where it was met first") {
  const TemporaryFolder folder;
  const std::string path = folder.write("rank1.json", "[]");
  folder.write("rank0.json", "[]");
  fs::create_symlink("rank0.json", folder.path("rank3.json"));
  CHECK(paths_in(folder, expand_inputs({path, folder.path(), folder.path("*.json")})) ==
        Paths{"rank1.json", "rank0.json"});
  CHECK(expand_inputs({"-", "-"}).size() == 1);
}

TEST_CASE("input_list: a file that two arguments lead to is told, for those who refuse it") {
  const TemporaryFolder folder;
  const std::string a = folder.write("set/rank0.json", "[]");
  const std::string b = folder.write("set/rank1.json", "[]");
  fs::create_symlink("rank0.json", folder.path("set/latest.json"));
  const auto refusal = [](const std::vector<std::string>& arguments) {
    try {
      refuse_repeated(expand_inputs(arguments));
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal({folder.path("set")}).empty());
  CHECK(refusal({a, b}).empty());
  CHECK(refusal({folder.path("set"), "3=" + b}).empty());
  CHECK(refusal({"3=" + b, folder.path("set")}).empty());
  CHECK(refusal({a, a}) == a + ": given twice; leave one out");
  CHECK(refusal({"0=" + a, "0=" + a}) == a + ": given twice; leave one out");
  CHECK(refusal({"-", "-"}) == "-: given twice; leave one out");
  const std::string link = folder.path("set/latest.json");
  CHECK(refusal({a, link}) == link + ": the same file as " + a + "; leave one of the two out");
  CHECK(refusal({b, folder.path("set")}) == b + ": given twice; leave one out");
}

TEST_CASE("input_list: RANK= forces the rank of all files that the path stands for") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", "[]");
  const std::string b = folder.write("set/b.json", "[]");
  const std::string c = folder.write("set/c.json", "[]");
  CHECK(expand_inputs({"3=" + a}) == std::vector<Input>{{a, 3}});
  CHECK(expand_inputs({"0=-"}) == std::vector<Input>{{"-", 0}});
  CHECK(expand_inputs({"9223372036854775807=" + folder.path("set")}) ==
        std::vector<Input>{{b, 9223372036854775807}, {c, 9223372036854775807}});
  CHECK(expand_inputs({"07=" + folder.path("set/*")}) == std::vector<Input>{{b, 7}, {c, 7}});
  CHECK(expand_inputs({a, "3=" + a}) == std::vector<Input>{{a, 3}});
  CHECK(expand_inputs({"3=" + a, a}) == std::vector<Input>{{a, 3}});
}

TEST_CASE("input_list: a file whose name really begins with a number and = wins") {
  const TemporaryFolder folder;
  const std::string path = folder.write("x=1.json", "");
  CHECK(expand_inputs({path}) == std::vector<Input>{{path, std::nullopt}});
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  folder.write("3=a.json", "");
  folder.write("a.json", "");
  CHECK(expand_inputs({"3=a.json"}) == std::vector<Input>{{"3=a.json", std::nullopt}});
  CHECK(expand_inputs({"4=a.json"}) == std::vector<Input>{{"a.json", 4}});
  fs::current_path(before);
}

TEST_CASE("input_list: says what is wrong with an argument") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", "");
  CHECK(error_of({}) == "no input given; name trace files, a directory of them, or - for stdin");
  CHECK(error_of({"/nowhere/a.json"}) == "/nowhere/a.json: No such file or directory");
  CHECK(error_of({"3=/nowhere/a.json"}) == "/nowhere/a.json: No such file or directory");
  CHECK(error_of({a + "/b.json"}) == a + "/b.json: Not a directory");
  CHECK(error_of({""}) == "the name of an input is empty (an unset variable?)");
  CHECK(error_of({folder.path("b*.json")}) ==
        folder.path("b*.json") + ": no file matches this pattern");
  fs::create_directory(folder.path("empty"));
  CHECK(error_of({folder.path("empty")}) ==
        folder.path("empty") +
            ": the directory holds no trace (*.json, *.json.gz, *.json.zst or node_trace.*.log)");
  CHECK(error_of({"-3=" + a}) == "-3=" + a + ": a rank is 0 or more");
  CHECK(error_of({"9223372036854775808=" + a}) ==
        "9223372036854775808=" + a + ": the rank is too large");
  CHECK(error_of({"3="}) == "3=: a path must follow RANK=");
  CHECK(error_of({"x=" + a}) == "x=" + a + ": No such file or directory");
  CHECK(error_of({"0=" + a, "1=" + a}) == a + ": given as rank 0 and as rank 1");
}

TEST_CASE("input_list: a directory that may not be read is an error") {
  if (geteuid() == 0) return;  // root may read all
  const TemporaryFolder folder;
  folder.write("closed/a.json", "");
  fs::permissions(folder.path("closed"), fs::perms::none);
  CHECK(error_of({folder.path()}) == folder.path("closed") + ": Permission denied");
  fs::permissions(folder.path("closed"), fs::perms::owner_all);
}

TEST_CASE("input_list: knows the same file behind different paths") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", "[]");
  const std::string copy = folder.write("copy.json", "[]");
  fs::create_symlink("a.json", folder.path("link.json"));
  fs::create_hard_link(a, folder.path("hard.json"));
  CHECK(same_file(a, a));
  CHECK(same_file(a, folder.path("./link.json")));
  CHECK(same_file(folder.path("hard.json"), a));
  CHECK_FALSE(same_file(a, copy));
  CHECK_FALSE(same_file(a, folder.path("missing.json")));
  CHECK_FALSE(same_file(folder.path("missing.json"), folder.path("missing.json")));
  CHECK_FALSE(same_file("-", "-"));
  CHECK(is_input({{copy, {}}, {a, 3}}, folder.path("link.json")));
  CHECK_FALSE(is_input({{copy, {}}}, a));
  CHECK_FALSE(is_input({{"-", {}}}, "-"));
  CHECK_FALSE(is_input({{a, {}}}, ""));
}

TEST_CASE("input_list: knows the same path of a file that is still to be written") {
  const TemporaryFolder folder;
  const std::string a = folder.write("a.json", "[]");
  fs::create_symlink("a.json", folder.path("link.json"));
  fs::create_directory_symlink(".", folder.path("here"));
  CHECK(is_same_path(a, folder.path("link.json")));
  CHECK(is_same_path(folder.path("new.json"), folder.path("here/new.json")));
  CHECK(is_same_path("new.json", "./new.json"));
  fs::create_symlink("here/new.json", folder.path("to new.json"));
  fs::create_symlink("to new.json", folder.path("to link.json"));
  CHECK(is_same_path(folder.path("to link.json"), folder.path("new.json")));
  CHECK_FALSE(is_same_path(folder.path("to link.json"), folder.path("other.json")));
  CHECK(is_same_path((fs::current_path() / "new.json").string(), "new.json"));
  CHECK_FALSE(is_same_path("new.json", "newer.json"));
  CHECK_FALSE(is_same_path(a, folder.path("new.json")));
}

TEST_CASE("input_list: a missing file is kept for who can go on without it") {
  CHECK(expand_inputs({"3=/nowhere/a.json"}, MissingFile::keep) ==
        std::vector<Input>{{"/nowhere/a.json", 3}});
  CHECK_THROWS_WITH_AS(expand_inputs({"/nowhere/*.json"}, MissingFile::keep),
                       "/nowhere/*.json: no file matches this pattern", Error);
}

TEST_CASE("input_list: pipes and stdin cannot be read again") {
  const TemporaryFolder folder;
  CHECK(can_be_reread(folder.write("a.json", "[]")));
  CHECK(can_be_reread(folder.path()));
  CHECK(can_be_reread(folder.path("missing.json")));
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK_FALSE(can_be_reread(folder.path("pipe")));
  CHECK_FALSE(can_be_reread("-"));
}

TEST_CASE("input_list: files of other kinds are named, or taken") {
  const TemporaryFolder folder;
  const std::string trace = folder.write("run/rank0.json", "[]");
  folder.write("run/rows.json", "[ [1, 2, 3, 4]]");
  folder.write("run/fsdp_mem_rank_0_f_2.log", "Iteration 2 f Peak FSDP memory stats: \n");
  folder.write("run/train.log", "hello");
  folder.write("run/rank_0_memory_stats.json", "{}");
  folder.write("run/a.pickle", "x");
  folder.write("run/page.html", "<script>x([{\"base64\": \"\"}])");
  folder.write("run/picture.html", "<html><title>GPU Memory Timeline HTML</title>");
  folder.write("run/report.html", "<html>");
  folder.write("run/jax.prof", "x");
  const std::string only = folder.write("only/b.pkl.gz", "x");
  const auto kinds_of = [](const OtherFiles& others) {
    std::vector<std::pair<std::string, FileKind>> kinds;
    for (const OtherFile& file : others.of_kind)
      kinds.emplace_back(file.path.substr(file.path.rfind('/') + 1), file.kind);
    return kinds;
  };
  using Kinds = std::vector<std::pair<std::string, FileKind>>;
  const Kinds in_run{{"a.pickle", FileKind::pickle},
                     {"fsdp_mem_rank_0_f_2.log", FileKind::tracker_report},
                     {"jax.prof", FileKind::heap_profile},
                     {"page.html", FileKind::pickle},
                     {"picture.html", FileKind::memory_picture},
                     {"rank_0_memory_stats.json", FileKind::memory_stats},
                     {"rows.json", FileKind::memory_timeline}};
  OtherFiles others;
  CHECK(expand_inputs({folder.path("run")}, MissingFile::refuse, &others) ==
        std::vector<Input>{{trace, std::nullopt}});
  CHECK(kinds_of(others) == in_run);
  CHECK_THROWS_WITH_AS(
      expand_inputs({folder.path("only")}, MissingFile::refuse, &others),
      (folder.path("only") +
       ": the directory holds no trace (*.json, *.json.gz, *.json.zst or node_trace.*.log), but a "
       "pickle (allocator snapshot or memory stats), which trace-stats memory reads")
          .c_str(),
      Error);
  others = {.takes_memory = true};
  CHECK(expand_inputs({folder.path("only"), "3=" + folder.path("run/a.pickle"), trace},
                      MissingFile::refuse, &others) == std::vector<Input>{{trace, std::nullopt}});
  REQUIRE(kinds_of(others) ==
          Kinds{{"b.pkl.gz", FileKind::pickle}, {"a.pickle", FileKind::pickle}});
  CHECK(others.of_kind[0].argument == 0);
  CHECK_FALSE(others.of_kind[0].forced_rank.has_value());
  CHECK(others.of_kind[1].argument == 1);
  CHECK(others.of_kind[1].forced_rank == 3);
}

TEST_CASE("input_list: JSON files of a folder that are no traces are left out") {
  const TemporaryFolder folder;
  folder.write("rank0.json", R"({"traceEvents": [], "schemaVersion": 1})");
  folder.write("rank1.json", "[]");
  folder.write("report.json", "\n{\"schema_version\": 1, \"keys\": [\"traceEvents\", 1]}\n");
  folder.write("cut.json", R"({"schemaVersion": 1, "deviceProperties": [)");
  folder.write("late.json", R"({"a": ")" + std::string(10'000, 'x') + R"(", "traceEvents": []})");
  folder.write("large.json", R"({"a": ")" + std::string(5'000'000, 'x') + R"("})");
  OtherFiles others;
  CHECK(paths_in(folder, expand_inputs({folder.path()}, MissingFile::refuse, &others)) ==
        Paths{"cut.json", "large.json", "late.json", "rank0.json", "rank1.json"});
  CHECK(others.no_traces == Paths{folder.path() + "/report.json"});
  CHECK(others.other_names.empty());
  // A name that ends nearly like that of a trace is no mistake to pass over.
  for (const char* name : {"rank2.JSON", "rank3.trace", "rank4.json.xz", "notes.txt", "list.md"})
    folder.write(name, "[]");
  others = {};
  CHECK(expand_inputs({folder.path()}, MissingFile::refuse, &others).size() == 5);
  CHECK(others.other_names ==
        Paths{folder.path("rank2.JSON"), folder.path("rank3.trace"), folder.path("rank4.json.xz")});
  // A file that is named is never left out, and without a list for them no file is.
  others = {};
  CHECK(expand_inputs({folder.path() + "/report.json"}, MissingFile::refuse, &others).size() == 1);
  CHECK(others.no_traces.empty());
  CHECK(expand_inputs({folder.path()}).size() == 6);
}
