// base64: bytes as text that can stand in a page (RFC 4648, with padding).
//
//   base64("Man")               // "TWFu"
//   base64(bytes_of_hex("4d61"))   // "TWE="
#pragma once

#include <string>
#include <string_view>

namespace traceloom {

std::string base64(std::string_view bytes);

// `hex` has an even number of lower-case digits.
std::string bytes_of_hex(std::string_view hex);

}  // namespace traceloom
