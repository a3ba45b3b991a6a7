#include "analysis/reports/reports.h"
#include "base/arithmetic.h"
#include "output/json_writer.h"
#include "table/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace traceloom {
namespace {

std::int64_t total_of(const TreeNode& node, TreeMetric metric) {
  return metric == TreeMetric::host ? node.host_total_ns : node.device_total_ns;
}

// The nodes of a tree as rows: it selects and orders them.
class TreeRows {
 public:
  TreeRows(const CallTree& tree, const TreeReportOptions& options)
      : tree_(tree), options_(options), children_(tree.nodes().size() + 1) {
    for (std::uint32_t i = 0; i < tree.nodes().size(); ++i) {
      const TreeNode& node = tree.nodes()[i];
      children_[node.parent == kNoParent ? tree.nodes().size() : node.parent].push_back(i);
      if (node.parent != kNoParent) continue;
      add_to(host_ns_, node.host_total_ns);
      add_to(device_ns_, node.device_total_ns);
    }
  }

  std::int64_t host_ns() const { return host_ns_; }
  std::int64_t device_ns() const { return device_ns_; }
  std::size_t hidden() const { return hidden_; }

  // Calls use(node, depth) for each shown node, a parent before its children, and
  // use_deeper(node, depth) after a node whose children lie too deep.
  template <typename Use, typename UseDeeper>
  void for_each(Use use, UseDeeper use_deeper) {
    std::size_t shown = 0;
    std::vector<std::pair<std::uint32_t, std::int64_t>> next;
    push_children(next, static_cast<std::uint32_t>(tree_.nodes().size()), 0);
    while (!next.empty()) {
      const auto [node, depth] = next.back();
      next.pop_back();
      use(node, depth);
      ++shown;
      if (!is_too_deep(depth + 1))
        push_children(next, node, depth + 1);
      else if (std::ranges::any_of(children_[node], [this](std::uint32_t child) {
                 return is_shown(tree_.nodes()[child]);
               }))
        use_deeper(node, depth + 1);
    }
    hidden_ = tree_.nodes().size() - shown;
  }

 private:
  bool is_too_deep(std::int64_t depth) const {
    return options_.depth > 0 && static_cast<std::size_t>(depth) >= options_.depth;
  }

  bool reaches(std::int64_t ns, std::int64_t all_ns) const {
    return ns > 0 && static_cast<double>(ns) >= options_.min_share * static_cast<double>(all_ns);
  }

  bool is_shown(const TreeNode& node) const {
    return options_.min_share <= 0 || reaches(node.host_total_ns, host_ns_) ||
           reaches(node.device_total_ns, device_ns_);
  }

  // Returns the node itself, or the node inside that it only exists to call.
  std::uint32_t pass_over(std::uint32_t index) const {
    while (options_.min_share > 0) {
      const TreeNode& node = tree_.nodes()[index];
      if (!tree_.is_plain_python(node) || reaches(node.host_self_ns, host_ns_) ||
          reaches(node.device_self_ns, device_ns_))
        break;
      const std::vector<std::uint32_t>& inner = children_[index];
      const auto is_one = [this](std::uint32_t child) { return is_shown(tree_.nodes()[child]); };
      if (std::count_if(inner.begin(), inner.end(), is_one) != 1) break;
      index = *std::find_if(inner.begin(), inner.end(), is_one);
    }
    return index;
  }

  // The last child pushed is the first to be shown.
  void push_children(std::vector<std::pair<std::uint32_t, std::int64_t>>& next, std::uint32_t node,
                     std::int64_t depth) {
    std::vector<std::pair<std::string, std::uint32_t>> children;
    children.reserve(children_[node].size());
    for (const std::uint32_t child : children_[node]) {
      if (!is_shown(tree_.nodes()[child])) continue;
      const std::uint32_t shown = pass_over(child);
      children.emplace_back(tree_.name(tree_.nodes()[shown]), shown);
    }
    std::sort(children.begin(), children.end(),
              [this](const auto& a, const auto& b) { return sort_key(a) < sort_key(b); });
    for (std::size_t i = children.size(); i-- > 0;) next.emplace_back(children[i].second, depth);
  }

  std::tuple<std::int64_t, std::int64_t, std::string_view, NodeKind> sort_key(
      const std::pair<std::string, std::uint32_t>& child) const {
    const TreeNode& node = tree_.nodes()[child.second];
    const bool host_first = options_.metric == TreeMetric::host;
    return {-total_of(node, options_.metric),
            -total_of(node, host_first ? TreeMetric::device : TreeMetric::host), child.first,
            node.kind};
  }

  const CallTree& tree_;
  const TreeReportOptions& options_;
  std::vector<std::vector<std::uint32_t>> children_;  // the last entry holds the roots
  std::int64_t host_ns_ = 0;
  std::int64_t device_ns_ = 0;
  std::size_t hidden_ = 0;
};

struct TreeRow {
  const TreeNode& node;
  const TreeRoot& root;
  std::string name;
  std::int64_t id = 0;
  std::optional<std::int64_t> parent;  // id
  std::int64_t depth = 0;
};

// People see all columns of the metric, and only the total of the other time, because names need
// room in a tree.
ColumnsOf<TreeRow> columns_for(TreeMetric metric, const TreeRows& rows) {
  using enum ColumnKind;
  using enum Readers;
  using Row = TreeRow;
  const Readers host = metric == TreeMetric::host ? all : programs;
  const Readers device = metric == TreeMetric::device ? all : programs;
  return {
      {"id", "Id", count, programs, &Row::id},
      {"parent", "Parent", count, programs, &Row::parent},
      {"rank", "Rank", count, programs,
       [](auto& of) { return cell_if(of.root.rank >= 0, of.root.rank); }},
      {"thread", "Thread", text, programs,
       [](auto& of) { return text_or_nothing(of.root.thread); }},
      {"depth", "Depth", count, programs, &Row::depth},
      {"kind", "Kind", text, programs, [](auto& of) { return to_string(of.node.kind); }},
      {"host_share", "Host %", share, host,
       [&](auto& of) { return share_cell(of.node.host_total_ns, rows.host_ns()); }},
      {"host_total_ns", "Host total", duration, [](auto& of) { return of.node.host_total_ns; }},
      {"host_self_ns", "Host self", duration, host, [](auto& of) { return of.node.host_self_ns; }},
      {"device_share", "Device %", share, device,
       [&](auto& of) { return share_cell(of.node.device_total_ns, rows.device_ns()); }},
      {"device_total_ns", "Device total", duration, rows.device_ns() > 0 ? all : device,
       [](auto& of) { return of.node.device_total_ns; }},
      {"device_self_ns", "Device self", duration, device,
       [](auto& of) { return of.node.device_self_ns; }},
      {"count", "Count", count, [](auto& of) { return cell_if(of.node.count > 0, of.node.count); }},
      {"name", "Name", text, &Row::name},
  };
}

// Returns all nodes inside a node as one.
TreeNode sum_inside(const TreeNode& node) {
  const std::int64_t host_ns = saturating_subtract(node.host_total_ns, node.host_self_ns);
  const std::int64_t device_ns = saturating_subtract(node.device_total_ns, node.device_self_ns);
  return {kNoParent, NodeKind::deeper, 0, 0, host_ns, host_ns, device_ns, device_ns};
}

Table rows_table(const CallTree& tree, TreeRows& rows, TreeMetric metric) {
  const ColumnsOf<TreeRow> columns = columns_for(metric, rows);
  Table table = empty_table(columns);
  table.nest("depth", "name");
  std::vector<std::int64_t> path;  // ids of the rows around the next row
  const TreeRoot* root = nullptr;
  std::int64_t next_id = 0;
  const auto add = [&](const TreeNode& node, std::string name, std::int64_t depth) {
    // The path is cut by depth, since frames may have been skipped.
    path.resize(static_cast<std::size_t>(depth));
    const std::optional<std::int64_t> parent =
        path.empty() ? std::nullopt : std::optional(path.back());
    add_row(table, columns, {node, *root, std::move(name), next_id, parent, depth});
    path.push_back(next_id++);
  };
  rows.for_each(
      [&](std::uint32_t index, std::int64_t depth) {
        const TreeNode& node = tree.nodes()[index];
        if (depth == 0) root = &tree.root(node);
        add(node, tree.name(node), depth);
      },
      [&](std::uint32_t index, std::int64_t depth) {
        add(sum_inside(tree.nodes()[index]), "(deeper)", depth);
      });
  return table;
}

std::string totals_json(const CallTree& tree, const TreeRows& rows) {
  return json_object("host_ns", rows.host_ns(), "device_ns", rows.device_ns(), "nodes",
                     tree.nodes().size(), "hidden", rows.hidden(), "crossings", tree.crossings());
}

void add_notes(Report& report, const CallTree& tree, const TreeRows& rows, std::size_t levels,
               const TreeReportOptions& options) {
  if (tree.nodes().empty()) report.notes.emplace_back("no spans of host threads in these traces");
  if (rows.hidden() > 0) {
    std::string limits;
    if (options.min_share > 0)
      limits = fmt::format(": below {:g} % of the time of the host and of devices",
                           options.min_share * 100);
    if (options.depth > 0)
      limits += fmt::format("{} deeper than {}", limits.empty() ? ":" : ", or", options.depth);
    report.notes.push_back(fmt::format("{} {} not shown{} (--min-share, --depth)", rows.hidden(),
                                       plural(rows.hidden(), "node is", "nodes are"), limits));
  }
  if (levels > kMostIndent)
    report.notes.push_back(
        fmt::format("the tree has {} levels; names are indented as far as level {} (--depth)",
                    format_count(levels), kMostIndent));
  if (tree.crossings() > 0)
    report.notes.push_back(fmt::format(
        "{} {} the end of the span in which {}: what both share counts for the earlier one",
        tree.crossings(), plural(tree.crossings(), "span crosses", "spans cross"),
        plural(tree.crossings(), "it starts", "they start")));
}

// Returns how deep the rows go.
std::size_t levels_of(const Table& table) {
  std::int64_t deepest = -1;
  for (const std::vector<Cell>& row : table.rows())
    deepest = std::max(deepest, std::get<std::int64_t>(row[*table.find_column("depth")]));
  return static_cast<std::size_t>(deepest + 1);
}

// A stack of a million calls would make as many lines of a million frames.
constexpr std::size_t kMostFrames = 512;

// Returns a name as a frame of a folded stack.
std::string frame_text(std::string name) {
  for (char& c : name) {
    if (c == ';') c = ':';
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return name;
}

}  // namespace

Report tree_report(const Run& run, const TreeReportOptions& options) {
  return tree_report(run, CallTree(run, options.tree), options);
}

Report tree_report(const Run& run, const CallTree& tree, const TreeReportOptions& options) {
  TreeRows rows(tree, options);
  Report report("tree", run);
  Table table = rows_table(tree, rows, options.metric);
  report.values.emplace_back("totals", totals_json(tree, rows));
  add_notes(report, tree, rows, levels_of(table), options);
  report.tables.push_back({"rows", "", std::move(table)});
  return report;
}

std::string folded_stacks(const Run& run, const TreeReportOptions& options) {
  const CallTree tree(run, options.tree);
  struct Stack {
    std::string text;
    std::size_t frames;
    std::int64_t self_ns;
  };
  std::vector<Stack> stacks;
  std::vector<std::size_t> stack_of;  // indexed by node
  stack_of.reserve(tree.nodes().size());
  for (const TreeNode& node : tree.nodes()) {
    const std::size_t around = node.parent == kNoParent ? 0 : stack_of[node.parent];
    const bool is_deeper = node.parent != kNoParent && stacks[around].frames == kMostFrames;
    if (is_deeper) {
      stack_of.push_back(around);
    } else {
      std::string frame = frame_text(tree.name(node));
      stack_of.push_back(stacks.size());
      if (node.parent == kNoParent)
        stacks.push_back({std::move(frame), 1, 0});
      else
        stacks.push_back({stacks[around].text + ';' + frame, stacks[around].frames + 1, 0});
    }
    add_to(stacks[stack_of.back()].self_ns,
           options.metric == TreeMetric::host ? node.host_self_ns : node.device_self_ns);
  }
  std::vector<std::string> lines;
  for (const Stack& stack : stacks)
    if (stack.self_ns > 0) lines.push_back(fmt::format("{} {}\n", stack.text, stack.self_ns));
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace traceloom
