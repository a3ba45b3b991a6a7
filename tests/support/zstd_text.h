// Zstd by its library alone, for tests: what our own code writes and reads is held against it.
//
//   std::string data = zstd_frame("[]") + zstd_stream({"[", "]"});
//   std::string text = unzstd(data);   // throws unless all of it is whole frames
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
#include <zstd.h>

namespace traceloom {

inline std::size_t checked_zstd(std::size_t result) {
  if (ZSTD_isError(result) != 0) throw std::runtime_error(ZSTD_getErrorName(result));
  return result;
}

// One frame that says its size, and has no checksum.
inline std::string zstd_frame(std::string_view text, int level = 3) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(checked_zstd(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), level)));
  return out;
}

// One frame with a checksum that does not say its size, with a block (or more) a piece.
inline std::string zstd_stream(const std::vector<std::string>& pieces) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                        ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string out;
  const auto add = [&](std::string_view piece, ZSTD_EndDirective directive) {
    ZSTD_inBuffer input{piece.data(), piece.size(), 0};
    std::string packed(ZSTD_compressBound(piece.size()) + 64, '\0');
    ZSTD_outBuffer output{packed.data(), packed.size(), 0};
    if (checked_zstd(ZSTD_compressStream2(context.get(), &output, &input, directive)) != 0)
      throw std::logic_error("zstd_stream() has no room for its own output");
    out.append(packed, 0, output.pos);
  };
  for (const std::string& piece : pieces) add(piece, ZSTD_e_flush);
  add("", ZSTD_e_end);
  return out;
}

inline std::string unzstd(std::string_view data) {
  std::string text;
  while (!data.empty()) {
    const std::size_t size = checked_zstd(ZSTD_findFrameCompressedSize(data.data(), data.size()));
    std::string frame(ZSTD_getFrameContentSize(data.data(), size), '\0');
    frame.resize(checked_zstd(ZSTD_decompress(frame.data(), frame.size(), data.data(), size)));
    text += frame;
    data.remove_prefix(size);
  }
  return text;
}

}  // namespace traceloom
