// Sinks without a file: MemorySink keeps the text that is written, FailingSink fails after some
// bytes.
//
//   std::string out;
//   PackedSink sink(std::make_unique<MemorySink>(out), 1);
#pragma once

#include "base/problems.h"
#include "output/sink.h"

#include <string>
#include <string_view>
#include <utility>

namespace traceloom {

class MemorySink : public Sink {
 public:
  // `out` must outlive the sink. `closed`, if given, is set by close().
  explicit MemorySink(std::string& out, bool* closed = nullptr) : out_(out), closed_(closed) {}

  void write(std::string_view bytes) override { out_.append(bytes); }
  void complete() override {}
  void close() override {
    if (closed_ != nullptr) *closed_ = true;
  }

 private:
  std::string& out_;
  bool* closed_;
};

class FailingSink : public Sink {
 public:
  FailingSink(std::size_t room_bytes, Error error)
      : room_bytes_(room_bytes), error_(std::move(error)) {}

  void write(std::string_view bytes) override {
    if (bytes.size() > room_bytes_) throw error_;
    room_bytes_ -= bytes.size();
  }
  void complete() override {}
  void close() override {}

 private:
  std::size_t room_bytes_;
  Error error_;
};

}  // namespace traceloom
