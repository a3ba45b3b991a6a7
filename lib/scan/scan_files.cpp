#include "scan/scan_files.h"

#include "input/byte_source.h"
#include "scan/list_reader.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>

#include <algorithm>
#include <atomic>

namespace traceloom {
namespace {

// A file that is being read. The reading stage reads it up to the beginning of the list, then
// leaves it to the joining stage.
struct OpenFile {
  OpenFile(FileVisitor& visitor, std::size_t index, const std::string& path,
           std::size_t max_event_bytes)
      : file(index), parser(path), list(visitor, index, path, parser, max_event_bytes) {}

  std::size_t file;
  TopLevelParser parser;
  ListReader list;
};

// An item of the pipeline: a chunk of a file, or the news that the rest of the file cannot be read.
struct Token {
  std::shared_ptr<OpenFile> file;
  Chunk chunk;
  std::size_t skip = 0;  // bytes of the chunk before the beginning of the list
  bool in_list = false;  // false if the whole chunk stands before the list
  ScannedText scanned;
  ProblemCounts source_problems;  // problems of the source, set in the last chunk
  std::optional<Error> failure;
};

// Owns the tokens. Used tokens wait here, with their buffers, for the next chunk. One mutex is
// enough: it is locked twice a megabyte.
class TokenPool {
 public:
  Token* get() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return all_.emplace_back(std::make_unique<Token>()).get();
    Token* const token = free_.back();
    free_.pop_back();
    return token;
  }
  void put(Token* token) {
    Chunk used;
    used.buffer = std::move(token->chunk.buffer);
    *token = Token{};
    token->chunk = std::move(used);
    const std::lock_guard lock(mutex_);
    free_.push_back(token);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Token>> all_;
  std::vector<Token*> free_;
};

// Marks one turn of a stage. TBB orders the stages, but the thread sanitizer cannot see into that
// library; this object shows it that the end of one turn happens before the begin of the next.
class Turn {
 public:
  explicit Turn(std::atomic<unsigned>& order) : order_(order) {
    static_cast<void>(order_.load(std::memory_order_acquire));
  }
  ~Turn() { order_.fetch_add(1, std::memory_order_acq_rel); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<unsigned>& order_;
};

// The serial first stage reads the chunks of one file after another.
class Reading {
 public:
  Reading(const std::vector<Input>& inputs, FileVisitor& visitor, const ScanOptions& options,
          TokenPool& pool)
      : inputs_(inputs),
        visitor_(visitor),
        options_(options),
        pool_(pool),
        next_(options.order != nullptr ? 0 : options.files.begin),
        end_(options.order != nullptr ? options.order->size()
                                      : std::min(options.files.end, inputs.size())) {}

  // Returns nullptr if all files have been read.
  Token* next() {
    if (!file_ && next_ >= end_) return nullptr;
    Token* const token = pool_.get();
    try {
      read_chunk(*token);
    } catch (const Error& error) {
      token->failure = error;
      close();
    }
    return token;
  }

 private:
  void read_chunk(Token& token) {
    if (!file_) {
      const std::size_t index = options_.order != nullptr ? options_.order->at(next_) : next_;
      ++next_;
      file_ = token.file = std::make_shared<OpenFile>(visitor_, index, inputs_[index].path,
                                                      options_.max_event_bytes);
      source_ = open_input(inputs_[index].path, options_.watch,
                           static_cast<unsigned>(thread_count(options_.threads)));
      reader_ = std::make_unique<ChunkReader>(*source_);
    }
    token.file = file_;
    reader_->next(token.chunk);
    if (!list_begun_) {
      token.skip = file_->parser.feed(token.chunk.text());
      list_begun_ = file_->parser.state() == TopLevelParser::State::in_list;
      token.chunk.at_event_start = false;
    }
    token.in_list = list_begun_;
    if (options_.progress) options_.progress(stored_bytes_ + source_->stored_bytes_read());
    if (token.chunk.last) {
      source_->check_unchanged();
      token.source_problems = source_->problems();
      close();
    }
  }

  void close() {
    if (source_) stored_bytes_ += source_->stored_bytes_read();
    file_.reset();
    reader_.reset();
    source_.reset();
    list_begun_ = false;
  }

  const std::vector<Input>& inputs_;
  FileVisitor& visitor_;
  const ScanOptions& options_;
  TokenPool& pool_;
  std::size_t next_;  // a place in options_.order, or a number of a file if there is no order
  std::size_t end_;
  std::uint64_t stored_bytes_ = 0;
  bool list_begun_ = false;
  std::shared_ptr<OpenFile> file_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<ChunkReader> reader_;
};

// The parallel stage. It leaves a chunk that does not begin at an event to the joining stage.
void scan_chunk(FileVisitor& visitor, Token& token) {
  if (token.failure || !token.in_list) return;
  const bool begins_list = token.skip > 0;
  if (!begins_list && !token.chunk.at_event_start) return;
  token.scanned = scan_text(visitor, token.file->file, token.chunk.text().substr(token.skip),
                            token.chunk.offset + token.skip,
                            begins_list ? Position::first : Position::after_comma,
                            token.chunk.last ? Behind::nothing : Behind::more_text);
}

// Returns the facts about the token's file if the token is its last. Reports a failed file to the
// visitor.
std::optional<FileEnd> find_end(FileVisitor& visitor, Token& token) {
  try {
    if (token.failure) throw *token.failure;
    if (!token.chunk.last) return std::nullopt;
    const std::uint64_t text_bytes = token.chunk.offset + token.chunk.size;
    if (!token.in_list) token.file->parser.finish(text_bytes, false);
    return token.file->list.finish(text_bytes, token.source_problems);
  } catch (const Error& error) {
    visitor.fail_file(token.file->file, error);
    return std::nullopt;
  }
}

// The serial last stage. An Error that the visitor itself throws (a full disk) is no failure of the
// file.
void join_chunk(FileVisitor& visitor, Token& token) {
  OpenFile& file = *token.file;
  if (!token.failure && token.in_list)
    file.list.add(token.chunk, token.skip, std::move(token.scanned));
  if (const std::optional<FileEnd> end = find_end(visitor, token))
    visitor.end_file(file.file, *end);
}

}  // namespace

std::size_t thread_count(unsigned wanted) {
  return wanted > 0 ? wanted : static_cast<std::size_t>(oneapi::tbb::info::default_concurrency());
}

namespace {

void scan_alone(FileVisitor& visitor, Reading& reading, TokenPool& pool) {
  while (Token* const token = reading.next()) {
    scan_chunk(visitor, *token);
    join_chunk(visitor, *token);
    pool.put(token);
  }
}

void scan_together(FileVisitor& visitor, Reading& reading, TokenPool& pool, std::size_t threads,
                   std::size_t chunks_in_flight) {
  namespace tbb = oneapi::tbb;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  std::atomic<unsigned> order{0};
  const Turn whole(order);
  const auto read = tbb::make_filter<void, Token*>(tbb::filter_mode::serial_in_order,
                                                   [&](tbb::flow_control& flow) {
                                                     const Turn turn(order);
                                                     Token* const token = reading.next();
                                                     if (token == nullptr) flow.stop();
                                                     return token;
                                                   });
  const auto scan = tbb::make_filter<Token*, Token*>(tbb::filter_mode::parallel, [&](Token* token) {
    const Turn turn(order);
    scan_chunk(visitor, *token);
    return token;
  });
  const auto join =
      tbb::make_filter<Token*, void>(tbb::filter_mode::serial_in_order, [&](Token* token) {
        const Turn turn(order);
        join_chunk(visitor, *token);
        pool.put(token);
      });
  tbb::parallel_pipeline(chunks_in_flight, read & scan & join);
}

}  // namespace

void scan_inputs(const std::vector<Input>& inputs, FileVisitor& visitor,
                 const ScanOptions& options) {
  const std::size_t threads = thread_count(options.threads);
  TokenPool pool;
  Reading reading(inputs, visitor, options, pool);
  if (threads == 1) {
    scan_alone(visitor, reading, pool);
  } else {
    scan_together(
        visitor, reading, pool, threads,
        options.chunks_in_flight > 0 ? options.chunks_in_flight : kChunksPerThread * threads);
  }
}

void scan_files(const std::vector<std::string>& paths, FileVisitor& visitor,
                const ScanOptions& options) {
  std::vector<Input> inputs;
  inputs.reserve(paths.size());
  for (const std::string& path : paths) inputs.push_back({path, std::nullopt});
  scan_inputs(inputs, visitor, options);
}

}  // namespace traceloom
