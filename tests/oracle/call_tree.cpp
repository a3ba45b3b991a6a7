#include "oracle/call_tree.h"

#include "oracle/json_value.h"

#include <algorithm>
#include <optional>

namespace traceloom::oracle {
namespace {

struct Span {
  std::string name;
  std::string category;
  std::string thread;
  std::int64_t from_us;
  std::int64_t to_us;
  std::int64_t correlation;
  std::int64_t external;

  bool is_device() const { return category == "kernel"; }
  bool is_call() const { return category == "cuda_runtime"; }
  bool is_operator() const { return category == "cpu_op"; }
  std::int64_t ns() const { return (to_us - from_us) * 1000; }
};

std::int64_t arg_of(const Json& event, const std::string& key) {
  const Json* const args = event.find("args");
  const Json* const value = args == nullptr ? nullptr : args->find(key);
  return value == nullptr ? -1 : std::stoll(value->text);
}

std::vector<Span> read_spans(const std::string& trace) {
  std::vector<Span> spans;
  for (const Json& event : parse_json(trace).items) {
    const std::int64_t from = std::stoll(event.find("ts")->text);
    spans.push_back({event.find("name")->text, event.find("cat")->text, event.find("tid")->text,
                     from, from + std::stoll(event.find("dur")->text), arg_of(event, "correlation"),
                     arg_of(event, "External id")});
  }
  return spans;
}

int order_of(const Span& span) {
  if (span.category == "python_function" || span.category == "user_annotation") return 0;
  return span.is_operator() ? 1 : 2;
}

// The spans of the host, an outer one before those in it.
std::vector<Span> host_spans(const std::string& trace) {
  std::vector<Span> spans = read_spans(trace);
  std::erase_if(spans, [](const Span& span) { return span.is_device(); });
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    if (a.from_us != b.from_us) return a.from_us < b.from_us;
    if (a.to_us != b.to_us) return a.to_us > b.to_us;
    return order_of(a) < order_of(b);
  });
  return spans;
}

bool contains(const Span& outer, const Span& inner) {
  if (outer.thread != inner.thread) return false;
  const bool starts_in = inner.from_us < outer.to_us || inner.from_us == inner.to_us;
  return outer.from_us <= inner.from_us && inner.to_us <= outer.to_us && starts_in;
}

using Maybe = std::optional<std::size_t>;

// The last span before it that holds it, and everything of its thread that came between them.
// `can_hold` says which spans may be around others, `counts` which are looked at.
template <typename CanHold, typename Counts>
std::vector<Maybe> find_parents(const std::vector<Span>& spans, CanHold can_hold, Counts counts) {
  std::vector<Maybe> parents(spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i)
    for (std::size_t outer = i; outer-- > 0 && !parents[i];) {
      if (!can_hold(spans[outer]) || !contains(spans[outer], spans[i])) continue;
      bool held_all = true;
      for (std::size_t between = outer + 1; between < i; ++between)
        if (counts(spans[between]) && spans[between].thread == spans[i].thread &&
            !contains(spans[outer], spans[between]))
          held_all = false;
      if (held_all) parents[i] = outer;
    }
  return parents;
}

// Computes the own times of the spans that count. Each instant goes to the first span at the top
// that contains it, then to the first such span inside that, and so on; it belongs to the last one
// reached.
template <typename Counts>
std::vector<std::int64_t> find_self_ns(const std::vector<Span>& spans,
                                       const std::vector<Maybe>& parents, Counts counts) {
  std::vector<std::int64_t> self(spans.size());
  std::int64_t end_us = 0;
  std::vector<std::string> threads;
  for (const Span& span : spans) {
    end_us = std::max(end_us, span.to_us);
    threads.push_back(span.thread);
  }
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  for (const std::string& thread : threads)
    for (std::int64_t us = 0; us < end_us; ++us) {
      Maybe owner;
      for (std::size_t i = 0; i < spans.size(); ++i)
        if (counts(spans[i]) && spans[i].thread == thread && parents[i] == owner &&
            spans[i].from_us <= us && us < spans[i].to_us)
          owner = i;
      if (owner) self[*owner] += 1000;
    }
  return self;
}

void add_totals(std::map<std::string, TreeRow>& rows) {
  for (auto& [stack, row] : rows)
    for (const auto& [inner, part] : rows)
      if (inner == stack || inner.rfind(stack + ";", 0) == 0) {
        row.host_total_ns += part.host_self_ns;
        row.device_total_ns += part.device_self_ns;
      }
}

// The operator with that External id.
Maybe find_external(const std::vector<Span>& spans, std::int64_t external) {
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (external >= 0 && spans[i].is_operator() && spans[i].external == external) return i;
  return std::nullopt;
}

Maybe find_call(const std::vector<Span>& spans, const Span& device) {
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (device.correlation >= 0 && spans[i].is_call() && spans[i].correlation == device.correlation)
      return i;
  return std::nullopt;
}

struct OperatorTree {
  std::vector<Span> spans;
  std::vector<Maybe> parents;

  explicit OperatorTree(const std::string& trace) : spans(host_spans(trace)) {
    std::erase_if(spans, [](const Span& span) { return !span.is_operator() && !span.is_call(); });
    const auto any = [](const Span&) { return true; };
    parents = find_parents(spans, any, any);
  }

  Maybe operator_around(std::size_t i) const {
    Maybe outer = parents[i];
    while (outer && !spans[*outer].is_operator()) outer = parents[*outer];
    return outer;
  }

  // The only operator in one of its own name.
  bool is_repeat(std::size_t i) const {
    const Maybe outer = operator_around(i);
    std::int64_t children = 0;
    for (std::size_t other = 0; outer && other < spans.size(); ++other)
      if (spans[other].is_operator() && operator_around(other) == outer) ++children;
    return children == 1 && spans[*outer].name == spans[i].name;
  }

  Maybe caller_of(std::size_t call) const {
    const Maybe named = find_external(spans, spans[call].external);
    if (named && spans[*named].from_us <= spans[call].from_us &&
        spans[call].to_us <= spans[*named].to_us)
      return named;
    return operator_around(call);
  }

  Maybe launcher_of(const Span& device) const {
    const Maybe call = find_call(spans, device);
    return call ? caller_of(*call) : find_external(spans, device.external);
  }
};

}  // namespace

std::map<std::string, TreeRow> find_call_tree(const std::string& trace, bool calls) {
  const std::vector<Span> spans = host_spans(trace);
  const auto is_node = [&](const Span& span) { return calls || !span.is_call(); };
  const std::vector<Maybe> parents = find_parents(spans, is_node, is_node);
  const std::vector<std::int64_t> self = find_self_ns(spans, parents, is_node);
  std::vector<std::string> stacks;
  std::map<std::string, TreeRow> rows;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::string outer = parents[i] ? stacks[*parents[i]] : spans[i].thread;
    stacks.push_back(is_node(spans[i]) ? outer + ";" + spans[i].name : parents[i] ? outer : "");
    if (!is_node(spans[i])) continue;
    rows[spans[i].thread];
    ++rows[stacks[i]].count;
    rows[stacks[i]].host_self_ns += self[i];
  }
  for (const Span& device : read_spans(trace)) {
    if (!device.is_device()) continue;
    std::string stack;
    if (const Maybe call = find_call(spans, device)) stack = stacks[*call];
    if (const Maybe named = find_external(spans, device.external); named && stack.empty())
      stack = stacks[*named];
    rows[stack.empty() ? "?" : stack].device_self_ns += device.ns();
  }
  add_totals(rows);
  return rows;
}

std::map<std::string, TreeRow> find_operators(const std::string& trace) {
  const OperatorTree tree(trace);
  const std::vector<Span>& spans = tree.spans;
  const auto any = [](const Span&) { return true; };
  std::vector<std::int64_t> host = find_self_ns(spans, tree.parents, any);
  std::vector<std::int64_t> device(spans.size());
  for (const Span& span : read_spans(trace))
    if (const Maybe op = tree.launcher_of(span); span.is_device() && op) device[*op] += span.ns();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!spans[i].is_call()) continue;
    const Maybe op = tree.caller_of(i);
    if (op && spans[*op].thread != spans[i].thread) host[*op] -= spans[i].ns();
  }
  std::vector<std::int64_t> device_total = device;
  std::map<std::string, TreeRow> rows;
  for (std::size_t i = spans.size(); i-- > 0;) {
    if (!spans[i].is_operator()) continue;
    host[i] = std::max<std::int64_t>(host[i], 0);
    const Maybe outer = tree.operator_around(i);
    if (outer) device_total[*outer] += device_total[i];
  }
  for (std::size_t i = spans.size(); i-- > 0;) {
    if (!spans[i].is_operator()) continue;
    const Maybe outer = tree.operator_around(i);
    if (tree.is_repeat(i)) {
      host[*outer] += host[i];
      device[*outer] += device[i];
      continue;
    }
    TreeRow& row = rows[spans[i].name];
    ++row.count;
    row.host_self_ns += host[i];
    row.host_total_ns += spans[i].ns();
    row.device_self_ns += device[i];
    row.device_total_ns += device_total[i];
  }
  return rows;
}

std::map<std::pair<std::string, std::string>, std::vector<std::int64_t>> find_kernels(
    const std::string& trace) {
  const OperatorTree tree(trace);
  std::map<std::pair<std::string, std::string>, std::vector<std::int64_t>> rows;
  for (const Span& span : read_spans(trace)) {
    if (!span.is_device()) continue;
    const Maybe op = tree.launcher_of(span);
    rows[{span.name, op ? tree.spans[*op].name : ""}].push_back(span.ns());
  }
  for (auto& [key, times] : rows) std::sort(times.begin(), times.end());
  return rows;
}

}  // namespace traceloom::oracle
