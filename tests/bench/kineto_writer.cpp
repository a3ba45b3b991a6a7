#include "bench/kineto_writer.h"

#include "bench/step_model.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

namespace traceloom::bench {
namespace {

constexpr std::int64_t kBaseNs = 1'767'189'312'000'000'000;  // a quarter of torch's calendar
constexpr std::int64_t kRunStartNs = 1'428'625'731'896'179;  // 16 days later
constexpr std::int64_t kHostPid = 25'286;
constexpr std::int64_t kMainThread = 25'286;
constexpr std::int64_t kAutogradThread = 25'931;
constexpr std::size_t kBufferSize = 4 << 20;

// Text into a file, plain or gzip: zlib's "T" mode writes through.
class Output {
 public:
  Output(const std::string& path, bool gzip)
      : path_(path), file_(gzopen(path.c_str(), gzip ? "wb6" : "wbT")) {
    if (file_ == nullptr) throw std::runtime_error(path + ": cannot be written");
    buffer_.reserve(kBufferSize + 65'536);
  }
  ~Output() {
    if (file_ != nullptr) gzclose(file_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Output& operator<<(std::string_view text) {
    buffer_ += text;
    return *this;
  }
  Output& operator<<(std::int64_t number) {
    char digits[24];
    const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    buffer_.append(digits, static_cast<std::size_t>(end - digits));
    return *this;
  }
  // Microseconds with three decimals.
  Output& us(std::int64_t ns) {
    const auto digit = [ns](std::int64_t unit) { return static_cast<char>('0' + ns / unit % 10); };
    const char decimals[] = {'.', digit(100), digit(10), digit(1)};
    *this << ns / 1000;
    buffer_.append(decimals, sizeof decimals);
    return *this;
  }

  void flush_when_full() {
    if (buffer_.size() >= kBufferSize) flush();
  }
  std::uint64_t bytes() const { return flushed_ + buffer_.size(); }

  void close() {
    flush();
    const int result = gzclose(file_);
    file_ = nullptr;
    if (result != Z_OK) throw std::runtime_error(path_ + ": cannot be written");
  }
  // Forgets what was written so far; possible until the buffer was full for the first time.
  void rewind() { buffer_.clear(); }

 private:
  void flush() {
    if (!buffer_.empty() &&
        gzwrite(file_, buffer_.data(), static_cast<unsigned>(buffer_.size())) <= 0)
      throw std::runtime_error(path_ + ": cannot be written");
    flushed_ += buffer_.size();
    buffer_.clear();
  }

  std::string path_;
  gzFile file_;
  std::string buffer_;
  std::uint64_t flushed_ = 0;
};

class KinetoWriter {
 public:
  KinetoWriter(const RankFile& file, const Names& names)
      : file_(file),
        names_(names),
        model_({file.seed, file.rank}, names),
        out_(file.path, file.gzip) {
    // Up to two seconds, and no whole number of microseconds.
    const std::uint64_t scrambled =
        (static_cast<std::uint64_t>(file.rank) * 0x9E3779B97F4A7C15U) >> 20;
    clock_offset_ =
        file.rank == 0 ? 0 : static_cast<std::int64_t>(scrambled % 4'000'000'000U) - 2'000'000'000;
  }

  WrittenFile write() {
    const std::int64_t steps = count_steps();
    write_head();
    write_section(steps, [this](const Step& step) { write_host(step); });
    write_section(steps, [this](const Step& step) { write_python(step); });
    write_section(steps, [this](const Step& step) { write_launches(step); });
    write_section(steps, [this](const Step& step) { write_device(step); });
    write_tail(steps);
    const WrittenFile written{out_.bytes(), events_, steps, clock_offset_};
    out_.close();
    return written;
  }

 private:
  // How many steps make the file as large as wanted: measured on some.
  std::int64_t count_steps() {
    constexpr std::int64_t kSample = 4;
    for (std::int64_t number = 0; number < kSample; ++number) {
      const Step& step = model_.step(number);
      write_host(step);
      write_python(step);
      write_launches(step);
      write_device(step);
    }
    const auto sample_bytes = static_cast<std::int64_t>(out_.bytes());
    out_.rewind();
    events_ = 0;
    return std::max<std::int64_t>(1, file_.megabytes * 1'000'000 * kSample / sample_bytes);
  }

  template <typename Write>
  void write_section(std::int64_t steps, Write write) {
    for (std::int64_t number = 0; number < steps; ++number) {
      write(model_.step(number));
      out_.flush_when_full();
    }
  }

  void write_head() {
    out_ << "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, "
            "\"name\": "
            "\"Generated GPU\", \"totalGlobalMem\": 85899345920,\n      \"computeMajor\": 9, "
            "\"computeMinor\": 0, \"numSms\": 132\n    }\n  ],\n  \"cuda_runtime_version\": "
            "12040,\n  "
            "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": "
         << file_.rank << ", \"world_size\": " << file_.ranks
         << ", \"pg_count\": 1},\n  \"record_shapes\": 1,\n  \"with_stack\": 1,\n  "
            "\"displayTimeUnit\": "
            "\"ms\",\n  \"baseTimeNanoseconds\": "
         << kBaseNs + clock_offset_ << ",\n  \"traceEvents\": [\n  ";
    metadata("process_name", kHostPid, 0, "\"name\": \"python3\"");
    metadata("process_labels", kHostPid, 0, "\"labels\": \"CPU\"");
    metadata("thread_name", kHostPid, kMainThread, "\"name\": \"thread 25286 (python3)\"");
    metadata("thread_name", kHostPid, kAutogradThread,
             "\"name\": \"thread 25931 (pt_autograd_0)\"");
    for (std::int64_t device = 0; device < 8; ++device) {
      metadata("process_name", device, 0, "\"name\": \"python3\"");
      metadata("process_labels", device, 0, "\"labels\": \"GPU " + std::to_string(device) + "\"");
    }
    metadata("thread_name", 0, 7, "\"name\": \"stream 7\"");
    metadata("thread_name", 0, 20, "\"name\": \"stream 20\"");
  }

  void metadata(std::string_view name, std::int64_t pid, std::int64_t tid, std::string_view args) {
    separate() << "{\n    \"name\": \"" << name << "\", \"ph\": \"M\", \"ts\": ";
    out_.us(kRunStartNs) << ", \"pid\": " << pid << ", \"tid\": " << tid
                         << ",\n    \"args\": {\n      " << args << "\n    }\n  }";
  }

  Output& separate() {
    if (events_++ != 0) out_ << ",\n  ";
    return out_;
  }

  // An X event up to its first argument; end_event() closes it.
  Output& begin_event(std::string_view cat, std::string_view name, std::int64_t pid,
                      std::int64_t tid, std::int64_t start, std::int64_t duration) {
    separate() << "{\n    \"ph\": \"X\", \"cat\": \"" << cat << "\", \"name\": \"" << name
               << "\", \"pid\": " << pid << ", \"tid\": " << tid << ",\n    \"ts\": ";
    out_.us(kRunStartNs + start) << ", \"dur\": ";
    return out_.us(duration) << ",\n    \"args\": {\n      ";
  }
  void end_event() { out_ << "\n    }\n  }"; }

  void annotation(std::string_view name, std::int64_t start, std::int64_t duration,
                  std::int64_t id) {
    begin_event("user_annotation", name, kHostPid, kMainThread, start, duration)
        << "\"External id\": " << id;
    end_event();
  }

  void write_host(const Step& step) {
    annotation("ProfilerStep#" + std::to_string(step.number), step.start, step.duration,
               step.number);
    annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", step.start + 1000,
               step.loader_duration - 1000, step.number);
    for (const Call& call : step.calls) write_operators(call);
    annotation("Optimizer.step#AdamW.step", step.optimizer_start, 2'000'000, step.number);
  }

  // aten::x, in it aten::_x; on the autograd thread inside of the node that runs it.
  void write_operators(const Call& call) {
    const std::int64_t thread = call.backward ? kAutogradThread : kMainThread;
    if (call.backward) {
      name_.assign("autograd::engine::evaluate_function: ") += names_.backwards[call.op];
      begin_event("cpu_op", name_, kHostPid, thread, call.start, call.duration);
      out_ << "\"External id\": " << call.id << ", \"Sequence number\": " << call.id / 2;
      end_event();
    }
    begin_event("cpu_op", names_.operators[call.op], kHostPid, thread, call.start + 500,
                call.duration - 1000);
    const auto rows = static_cast<std::int64_t>(call.shape % 4096);
    const auto columns = static_cast<std::int64_t>(call.shape / 4096 % 1024);
    out_ << "\"External id\": " << call.id << ", \"Input Dims\": [[" << rows << ", " << columns
         << "], [" << columns
         << "], []], \"Input type\": [\"c10::BFloat16\", \"float\", \"Scalar\"], \"Ev Idx\": "
         << call.id;
    end_event();
    if (call.shape % 3 == 0) {
      separate() << "{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
                    "\"[memory]\", "
                    "\"pid\": "
                 << kHostPid << ", \"tid\": " << thread << ",\n    \"ts\": ";
      out_.us(kRunStartNs + call.start + 700)
          << ",\n    \"args\": {\n      \"Total Allocated\": " << rows * columns
          << ", \"Bytes\": " << rows * 512 << ", \"Addr\": " << 139'987'654'000'000 + rows
          << "\n    }\n  }";
    }
  }

  void write_python(const Step& step) {
    for (const Frame& frame : step.frames) {
      const std::string& name =
          frame.is_module ? names_.modules[frame.name] : names_.frames[frame.name];
      begin_event("python_function", name, kHostPid, kMainThread, frame.start, frame.duration);
      out_ << "\"Python id\": " << frame.id << ", \"Python parent id\": " << frame.parent;
      if (frame.is_module) out_ << ", \"Python module id\": " << frame.id % 97;
      end_event();
    }
  }

  void write_launches(const Step& step) {
    for (const Call& call : step.calls) {
      const std::int64_t thread = call.backward ? kAutogradThread : kMainThread;
      begin_event("cuda_runtime", "cudaLaunchKernel", kHostPid, thread, call.launch,
                  call.launch_duration);
      out_ << "\"External id\": " << call.id << ", \"cbid\": 211, \"correlation\": " << call.id;
      end_event();
      arrow("s", call.id, kHostPid, thread, call.launch, "");
    }
  }

  void arrow(std::string_view phase, std::int64_t id, std::int64_t pid, std::int64_t tid,
             std::int64_t ts, std::string_view more) {
    separate() << "{\n    \"ph\": \"" << phase << "\", \"id\": " << id << ", \"pid\": " << pid
               << ", \"tid\": " << tid << ", \"ts\": ";
    out_.us(kRunStartNs + ts) << ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"" << more << "\n  }";
  }

  void write_device(const Step& step) {
    for (const Call& call : step.calls) {
      begin_event("kernel", names_.kernels[call.kernel], 0, 7, call.kernel_start,
                  call.kernel_duration);
      const auto blocks = static_cast<std::int64_t>(1 + call.shape % 20'000);
      out_ << "\"External id\": " << call.id
           << ", \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": " << call.id
           << ", \"grid\": [" << blocks << ", 1, 1], \"block\": [128, 1, 1]";
      end_event();
      arrow("f", call.id, 0, 7, call.kernel_start, ", \"bp\": \"e\"");
    }
    begin_event("kernel",
                "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 0, 20,
                step.collective_start, step.collective_duration);
    out_ << "\"device\": 0, \"stream\": 20, \"Collective name\": \"allreduce\", \"In msg nelems\": "
            "25559081, \"Out msg "
            "nelems\": 25559081, \"Group size\": "
         << file_.ranks << ", \"dtype\": \"BFloat16\", \"Seq\": " << step.number;
    end_event();
  }

  void write_tail(std::int64_t steps) {
    const Step& last = model_.step(steps - 1);
    separate() << "{\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    "
                  "\"pid\": \"\", \"tid\": "
                  "\"\", \"ts\": ";
    out_.us(kRunStartNs + last.start + last.duration)
        << "\n  }\n  ],\n  \"traceName\": \""
        << "rank" << file_.rank << ".pt.trace.json\"\n}\n";
  }

  RankFile file_;
  const Names& names_;
  StepModel model_;
  Output out_;
  std::int64_t clock_offset_ = 0;
  std::uint64_t events_ = 0;
  std::string name_;  // being put together; a member for its memory
};

}  // namespace

WrittenFile write_rank(const RankFile& file, const Names& names) {
  return KinetoWriter(file, names).write();
}

}  // namespace traceloom::bench
