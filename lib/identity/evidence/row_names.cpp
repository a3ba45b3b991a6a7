#include "identity/evidence/row_names.h"

#include "event/device_rows.h"
#include "json/json_document.h"

#include <algorithm>
#include <string_view>

namespace traceloom {
namespace {

void keep_last(std::string& text, const std::string& later) {
  if (!later.empty()) text = later;
}

// Removes the rank that a merge of ours puts before the process: "rank 3 · CANN 2".
std::string without_rank(const std::string& process) {
  constexpr std::string_view kRank = "rank ";
  constexpr std::string_view kSeparator = " · ";
  if (!process.starts_with(kRank)) return process;
  const std::size_t digits = process.find_first_not_of("0123456789", kRank.size());
  if (digits == kRank.size() || digits == std::string::npos) return process;
  return process.compare(digits, kSeparator.size(), kSeparator) == 0
             ? process.substr(digits + kSeparator.size())
             : process;
}

// Removes the process that a merge of ours puts before the thread: "CANN 2 · Thread 7".
std::string without_process(const std::string& thread, const std::string& process) {
  const std::string before = process + " · ";
  return thread.starts_with(before) ? thread.substr(before.size()) : thread;
}

}  // namespace

void RowNames::add(const Event& event) {
  const std::string_view kind = unquoted(event.text(Key::name));
  if (kind != "process_name" && kind != "process_labels" && kind != "thread_name") return;
  const JsonDocument args(event.text(Key::args));
  if (kind == "process_name") {
    keep_last(processes_[canonical_id(event.text(Key::pid))].name, args["name"].string());
  } else if (kind == "process_labels") {
    keep_last(processes_[canonical_id(event.text(Key::pid))].labels, args["labels"].string());
  } else {
    RowName& row =
        threads_[{canonical_id(event.text(Key::pid)), canonical_id(event.text(Key::tid))}];
    const std::string process = args["process"].string();
    keep_last(row.thread, without_process(args["name"].string(), process));
    keep_last(row.process, process);
  }
}

void RowNames::append(const RowNames& later) {
  for (const auto& [pid, process] : later.processes_) {
    keep_last(processes_[pid].name, process.name);
    keep_last(processes_[pid].labels, process.labels);
  }
  for (const auto& [place, row] : later.threads_) {
    keep_last(threads_[place].thread, row.thread);
    keep_last(threads_[place].process, row.process);
  }
}

void RowNames::clear() {
  processes_.clear();
  threads_.clear();
}

bool RowNames::has_device_rows() const {
  const auto is_thread = [this](const auto& row) {
    return is_device_row(row.first.first, row.first.second);
  };
  const auto is_process = [this](const auto& process) { return is_device_row(process.first, {}); };
  return std::any_of(threads_.begin(), threads_.end(), is_thread) ||
         std::any_of(processes_.begin(), processes_.end(), is_process);
}

bool RowNames::is_device_row(const std::string& pid, const std::string& tid) const {
  const RowName name = row(pid, tid);
  return is_on_device(find_device_row(name.process, name.thread));
}

RowName RowNames::row(const std::string& pid, const std::string& tid) const {
  RowName row;
  if (const auto thread = threads_.find({pid, tid}); thread != threads_.end()) row = thread->second;
  if (!row.process.empty()) return row;
  if (is_json_string(pid)) row.process = decoded(pid);
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return row;
  keep_last(row.process, without_rank(process->second.name));
  if (!is_named_device(row.process) && looks_like_device(process->second.labels))
    row.process = process->second.labels;
  return row;
}

}  // namespace traceloom
