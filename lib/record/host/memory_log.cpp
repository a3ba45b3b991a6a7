#include "record/host/memory_log.h"

#include "base/ascii.h"
#include "base/json_string.h"
#include "base/problems.h"
#include "output/sink.h"
#include "record/host/host_sampler.h"
#include "record/host/proc.h"
#include "record/support/c_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <set>
#include <stdexcept>
#include <unistd.h>

namespace traceloom::record {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kJsonEnd = "\n}\n";

std::int64_t unix_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

// True for keys (in small letters) that YAML 1.1 or 1.2 reads as null, a truth value or a number.
bool is_yaml_value(const std::string& lower) {
  constexpr std::array kWords{"null"sv, "true"sv, "false"sv, "yes"sv, "no"sv, "on"sv, "off"sv};
  if (std::find(kWords.begin(), kWords.end(), lower) != kWords.end()) return true;
  const bool is_number = lower.find_first_not_of("0123456789abcdefxo_.-") == std::string::npos;
  return is_number && lower.front() >= '0' && lower.front() <= '9';
}

// Returns the key for YAML: a key that could mean something else is quoted, as in JSON.
std::string yaml_key(const std::string& key) {
  const std::string lower = to_lower(std::string_view(key));
  const bool is_plain =
      !key.empty() && key.front() != '-' && key.front() != '.' &&
      lower.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz._/-") == std::string::npos;
  return is_plain && !is_yaml_value(lower) ? key : json_string(key);
}

using Fields = std::vector<std::pair<std::string, std::int64_t>>;

Fields fields_of(const MemoryReading& snapshot, const MemoryReading* at_start) {
  Fields fields{{"time_ns", snapshot.time_ns}, {"rss", snapshot.rss}, {"vms", snapshot.vms}};
  fields.insert(fields.end(), snapshot.bytes.begin(), snapshot.bytes.end());
  if (at_start == nullptr) return fields;
  fields.emplace_back("rss_diff", snapshot.rss - at_start->rss);
  fields.emplace_back("vms_diff", snapshot.vms - at_start->vms);
  for (const auto& [name, bytes] : snapshot.bytes) {
    const std::string& wanted = name;
    const auto before = std::find_if(at_start->bytes.begin(), at_start->bytes.end(),
                                     [&](const auto& counter) { return counter.first == wanted; });
    const std::int64_t then = before == at_start->bytes.end() ? 0 : before->second;
    fields.emplace_back(name + "_diff", bytes - then);
  }
  return fields;
}

// Throws if an entry would have a key of this counter twice.
template <typename Counters>
void check_counter(const std::string& counter, const Counters& others) {
  // The keys of a counter in an entry, as they are written.
  const auto keys_of = [](const std::string& name) {
    return std::array{json_string(name), json_string(name + "_diff")};
  };
  std::vector<std::string> names{"rss", "vms"};
  for (const auto& [name, bytes] : others) names.push_back(name);
  std::set<std::string> taken{json_string("time_ns")};
  for (const std::string& name : names)
    for (const std::string& key : keys_of(name)) taken.insert(key);
  for (const std::string& key : keys_of(counter))
    if (taken.count(key) > 0)
      throw std::invalid_argument(
          fmt::format("counter {}: an entry has the key {} already; choose another name",
                      json_string(counter), key));
}

std::string yaml_entry(const std::string& key, const Fields& fields) {
  std::string text = yaml_key(key) + ":\n";
  for (const auto& [name, value] : fields) text += fmt::format("  {}: {}\n", yaml_key(name), value);
  return text;
}

std::string json_entry(const std::string& key, const Fields& fields) {
  std::string text = "\n  " + json_string(key) + ": {";
  for (const auto& [name, value] : fields)
    text += fmt::format("{}{}: {}", text.ends_with('{') ? "" : ", ", json_string(name), value);
  return text + "}";
}

}  // namespace

MemoryLog::MemoryLog(const traceloom_memory_options& options)
    : options_(options),
      path_(text_or_empty(options.path)),
      is_json_(path_.ends_with(".json")),
      page_bytes_(sysconf(_SC_PAGESIZE)) {
  if (path_.empty()) return;
  const int how = options_.overwrite != 0 ? O_TRUNC : O_EXCL;
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  if (descriptor_ < 0 && errno == EEXIST)
    throw Error(path_, "exists already: choose another name, or allow to overwrite");
  if (descriptor_ < 0) throw system_error(path_, errno);
  if (is_json_) append("{");
}

MemoryLog::~MemoryLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

void MemoryLog::add_bytes(std::string_view counter, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = bytes_.find(counter);
  if (found != bytes_.end()) {
    found->second += bytes;
    return;
  }
  check_counter(std::string(counter), bytes_);
  bytes_.emplace(counter, bytes);
}

traceloom_memory_growth MemoryLog::growth(const std::string& scope) const {
  const std::lock_guard lock(mutex_);
  const auto found = scopes_.find(scope);
  return found == scopes_.end() ? traceloom_memory_growth TRACELOOM_MEMORY_GROWTH_INIT
                                : found->second.growth;
}

std::string MemoryLog::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void MemoryLog::set_error(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (error_.empty()) error_ = text;
}

void MemoryLog::flush() const {
  const std::lock_guard lock(mutex_);
  if (!error_.empty()) throw std::runtime_error(error_);
  if (descriptor_ >= 0 && fdatasync(descriptor_) != 0) throw system_error(path_, errno);
}

std::optional<MemoryReading> MemoryLog::start(const std::string& scope) {
  std::optional<MemoryReading> snapshot;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t iteration = ++scopes_[scope].iterations;
    const bool is_late = options_.max_iterations >= 0 && iteration > options_.max_iterations;
    if (iteration <= options_.warmup_iterations || is_late) return std::nullopt;
    snapshot = take(fmt::format("{}.{}.{}.start", options_.rank, scope, iteration));
    write(*snapshot, nullptr);
  }
  tell(*snapshot);
  return snapshot;
}

void MemoryLog::finish(const std::string& scope, const MemoryReading& at_start) {
  MemoryReading snapshot;
  {
    const std::lock_guard lock(mutex_);
    constexpr std::string_view kStart = "start";
    snapshot = take(at_start.key.substr(0, at_start.key.size() - kStart.size()) + "end");
    write(snapshot, &at_start);
    traceloom_memory_growth& growth = scopes_[scope].growth;
    const std::int64_t grown = snapshot.rss - at_start.rss;
    growth.rss_min = growth.iterations == 0 ? grown : std::min(growth.rss_min, grown);
    growth.rss_max = growth.iterations == 0 ? grown : std::max(growth.rss_max, grown);
    growth.rss_sum += grown;
    growth.rss_last = grown;
    ++growth.iterations;
  }
  tell(snapshot);
}

// Calls functions of the program, or of the trace: the lock must not be held.
void MemoryLog::tell(const MemoryReading& reading) const {
  if (options_.counters != 0) {
    record_counter({"memory/rss", "memory", {{"rss_mb", static_cast<double>(reading.rss) / kMb}}});
    record_counter({"memory/vms", "memory", {{"vms_mb", static_cast<double>(reading.vms) / kMb}}});
    for (const auto& [name, bytes] : reading.bytes)
      record_counter({"memory/bytes/" + name, "memory", {{"bytes", static_cast<double>(bytes)}}});
  }
  if (options_.on_snapshot == nullptr) return;
  std::vector<const char*> names;
  std::vector<std::int64_t> values;
  for (const auto& [name, bytes] : reading.bytes) {
    names.push_back(name.c_str());
    values.push_back(bytes);
  }
  const traceloom_memory_snapshot all{sizeof all,   reading.key.c_str(), reading.time_ns,
                                      reading.rss,  reading.vms,         names.size(),
                                      names.data(), values.data()};
  options_.on_snapshot(options_.on_snapshot_arg, &all);
}

MemoryReading MemoryLog::take(const std::string& key) {
  if (statm_of_ != getpid()) {
    statm_of_ = getpid();
    statm_ = std::make_unique<ProcFile>("/proc/self/statm");
  }
  MemoryReading snapshot;
  snapshot.key = key;
  snapshot.time_ns = unix_time_ns();
  if (const std::optional<ProcessMemory> memory = parse_statm(statm_->read())) {
    snapshot.rss = static_cast<std::int64_t>(memory->rss_pages) * page_bytes_;
    snapshot.vms = static_cast<std::int64_t>(memory->vms_pages) * page_bytes_;
  }
  snapshot.bytes.assign(bytes_.begin(), bytes_.end());
  return snapshot;
}

void MemoryLog::write(const MemoryReading& snapshot, const MemoryReading* at_start) {
  if (descriptor_ < 0) return;
  const Fields fields = fields_of(snapshot, at_start);
  if (is_json_)
    append((size_ > 1 ? "," : "") + json_entry(snapshot.key, fields));
  else
    append(yaml_entry(snapshot.key, fields));
}

// Writes the end of a JSON object with each entry; the next entry overwrites it.
void MemoryLog::append(const std::string& text) {
  try {
    write_at(descriptor_, path_, size_, is_json_ ? text + std::string(kJsonEnd) : text);
    size_ += text.size();
  } catch (const Error& error) {
    error_ = error.what();
    // Cuts the file back to what was whole. The end of an object had this room before, so there is
    // room for it.
    const auto whole = static_cast<off_t>(size_);
    const bool is_cut = ftruncate(descriptor_, whole) == 0;
    if (is_cut && is_json_ && size_ > 0 &&
        pwrite(descriptor_, kJsonEnd.data(), kJsonEnd.size(), whole) < 0)
      error_ += "; its last line is missing";
    close(descriptor_);
    descriptor_ = -1;
  }
}

}  // namespace traceloom::record

using namespace traceloom::record;

// It is shared with its scopes, which may end after the close.
struct traceloom_memory {
  std::shared_ptr<MemoryLog> log;
};

struct traceloom_memory_scope {
  std::shared_ptr<MemoryLog> log;
  std::string name;
  std::optional<MemoryReading> at_start;
};

traceloom_memory* traceloom_memory_open(const traceloom_memory_options* options) {
  return made([&] {
    return new traceloom_memory{std::make_shared<MemoryLog>(
        complete(options, traceloom_memory_options TRACELOOM_MEMORY_OPTIONS_INIT,
                 "traceloom_memory_options"))};
  });
}

traceloom_memory_scope* traceloom_memory_begin(traceloom_memory* memory, const char* scope) {
  return made([&]() -> traceloom_memory_scope* {
    if (memory == nullptr) return nullptr;
    const std::string name = text_or_empty(scope);
    return new traceloom_memory_scope{memory->log, name, memory->log->start(name)};
  });
}

int traceloom_memory_end(traceloom_memory_scope* scope) {
  const std::unique_ptr<traceloom_memory_scope> owned(scope);
  const int result = with(scope, [](traceloom_memory_scope& own) {
    if (own.at_start) own.log->finish(own.name, *own.at_start);
  });
  if (result != 0) scope->log->set_error(traceloom_last_error());
  return result;
}

int traceloom_memory_add_bytes(traceloom_memory* memory, const char* counter, int64_t bytes) {
  return with(memory, [&](const traceloom_memory& own) {
    own.log->add_bytes(text_or_empty(counter), bytes);
  });
}

int traceloom_memory_get_growth(const traceloom_memory* memory, const char* scope,
                                traceloom_memory_growth* growth) {
  if (growth == nullptr) return 0;
  return with(memory, [&](const traceloom_memory& own) {
    check_size(growth->size, "traceloom_memory_growth");
    traceloom_memory_growth all = own.log->growth(text_or_empty(scope));
    all.size = growth->size;
    give_back(all, *growth);
  });
}

int traceloom_memory_flush(traceloom_memory* memory) {
  return with(memory, [](const traceloom_memory& own) { own.log->flush(); });
}

int traceloom_memory_close(traceloom_memory* memory) {
  return with(memory, [](traceloom_memory& own) {
    const std::unique_ptr<traceloom_memory> owned(&own);
    if (const std::string problem = own.log->error(); !problem.empty())
      throw std::runtime_error(problem);
  });
}
