#include "table/columns.h"

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace traceloom;

namespace {

struct Part {
  std::int64_t ns = 0;
};

struct Load {
  std::int32_t rank = 0;
  std::string name;
  Part part;
  std::optional<std::int64_t> epoch;
  bool is_late = false;
  double gbps = 0;

  std::int64_t twice() const { return 2 * part.ns; }
};

const std::vector<Load> kLoads{{0, "a", {100}, 7, true, 1.5}, {3, "", {0}, std::nullopt, false, 2}};

Table table_of(std::int64_t all_ns, bool with_epochs) {
  using enum ColumnKind;
  using enum Readers;
  const ColumnsOf<Load> columns{
      {"rank", "Rank", count, &Load::rank},
      {"epoch", "Epoch", count, some, with_epochs, &Load::epoch},
      {"twice_ns", "Twice", duration, few, &Load::twice},
      {"ns", "Time", duration, path(&Load::part, &Part::ns)},
      {"share", "Share", share, [&](auto& of) { return share_cell(of.part.ns, all_ns); }},
      {"per_twice", "Per", share, share_of([](auto& of) { return of.part.ns; }, &Load::twice)},
      {"is_late", "Late", flag, &Load::is_late},
      {"gbps", "GB/s", number, programs, &Load::gbps},
      {"name", "Name", text, with_epochs, text_of(&Load::name)},
  };
  return make_table(kLoads, columns);
}

}  // namespace

TEST_CASE("columns: each has the value of its row") {
  const Table table = table_of(200, true);
  CHECK(render_table(table, TableFormat::csv, {}) ==
        "rank,epoch,twice_ns,ns,share,per_twice,is_late,gbps,name\n"
        "0,7,200,100,0.5,0.5,true,1.5,a\n"
        "3,,0,0,0,,false,2,\n");
  CHECK(table.columns()[1].title == "Epoch");
  CHECK(table.columns()[1].readers == Readers::some);
  CHECK(table.columns()[8].readers == Readers::all);
  CHECK(std::holds_alternative<std::monostate>(table.rows()[1][8]));
}

TEST_CASE("columns: a table does without those that are not there, and still lists them") {
  const Table table = table_of(0, false);
  CHECK(render_table(table, TableFormat::csv, {}) ==
        "rank,twice_ns,ns,share,per_twice,is_late,gbps\n"
        "0,200,100,,0.5,true,1.5\n"
        "3,0,0,,,false,2\n");
  CHECK(column_list(table, "loads") ==
        "loads\trank\tcount\tRank\n"
        "loads\tepoch\tcount\tEpoch\n"
        "loads\ttwice_ns\tduration\tTwice\n"
        "loads\tns\tduration\tTime\n"
        "loads\tshare\tshare\tShare\n"
        "loads\tper_twice\tshare\tPer\n"
        "loads\tis_late\tflag\tLate\n"
        "loads\tgbps\tnumber\tGB/s\n"
        "loads\tname\ttext\tName\n");
}

TEST_CASE("columns: a table without rows has its columns") {
  const ColumnsOf<Load> columns{{"rank", "Rank", ColumnKind::count, &Load::rank}};
  CHECK(render_table(make_table(std::vector<Load>{}, columns), TableFormat::csv, {}) == "rank\n");
  CHECK(render_table(empty_table(columns), TableFormat::columns, {}) ==
        "rows\trank\tcount\tRank\n");
}

TEST_CASE("columns: a value of another kind is refused") {
  const ColumnsOf<Load> columns{{"name", "Name", ColumnKind::count, &Load::name}};
  CHECK_THROWS_WITH_AS(make_table(kLoads, columns), "a cell of another kind than its column name",
                       std::invalid_argument);
}

TEST_CASE("columns: to_cell takes numbers, flags, texts and what may be missing") {
  CHECK((to_cell(std::uint8_t{200}) == Cell{std::int64_t{200}}));
  CHECK((to_cell(true) == Cell{true}));
  CHECK((to_cell(0.5F) == Cell{0.5}));
  CHECK((to_cell("text") == Cell{std::string("text")}));
  CHECK((to_cell(std::string_view("")) == Cell{std::string()}));
  CHECK((to_cell(std::optional<double>()) == Cell{}));
  CHECK((to_cell(std::optional<double>(2)) == Cell{2.0}));
  CHECK((to_cell(Cell{}) == Cell{}));
  CHECK((cell_if(false, 1) == Cell{}));
  CHECK((cell_if(true, 1) == Cell{std::int64_t{1}}));
  CHECK((text_or_nothing("") == Cell{}));
}

TEST_CASE("table: sort_rows() orders by all cells, show_to_all() shows a column") {
  Table table({{"a", "A", ColumnKind::count, Readers::few}, {"b", "B", ColumnKind::text}});
  table.add_row({std::int64_t{2}, "x"});
  table.add_row({std::int64_t{1}, "z"});
  table.add_row({std::int64_t{1}, "y"});
  table.sort_rows();
  table.show_to_all("a");
  table.show_to_all("c");
  CHECK(render_table(table, TableFormat::csv, {}) == "a,b\n1,y\n1,z\n2,x\n");
  CHECK(table.columns()[0].readers == Readers::all);
}
