// Gzip by zlib alone, for tests: what our own code writes and reads is held against it.
//
//   std::string data = gzip("[]") + gzip("");
//   std::string text = gunzip_one_member(data);   // throws: there are two members
#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace traceloom {

inline Bytef* zlib_bytes(const char* data) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(data));
}

// One member. `header`, if given, goes into its front: name, comment, extra field.
inline std::string gzip(std::string_view text, int level = 6, gz_header* header = nullptr) {
  z_stream stream = {};
  deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  if (header != nullptr) deflateSetHeader(&stream, header);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = zlib_bytes(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = zlib_bytes(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::logic_error("gzip() has no room for its own output");
  return out;
}

// Throws unless `data` is one whole member and nothing else.
inline std::string gunzip_one_member(std::string_view data) {
  z_stream stream = {};
  inflateInit2(&stream, MAX_WBITS + 16);
  stream.next_in = zlib_bytes(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  std::string text;
  std::string piece(64 << 10, '\0');
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_out = zlib_bytes(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    result = inflate(&stream, Z_NO_FLUSH);
    text.append(piece, 0, piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("no whole gzip member");
  if (stream.avail_in != 0) throw std::runtime_error("bytes behind the gzip member");
  return text;
}

}  // namespace traceloom
