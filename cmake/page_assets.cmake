# The style and scripts of the report page as literals of C++, with their hashes: lib/page/assets.h says what for.
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/page/assets)
# The modules of the script are one element, in this order: each uses what stands before it, and the last one starts.
set(style page.css)
set(script page.js tables.js heat.js flame.js gaps.js timeline.js hands.js search.js viewer.js contract.js start.js)
foreach(asset IN ITEMS "kPageStyle style" "kPageScript script")
  separate_arguments(asset)
  list(GET asset 0 name)
  list(GET asset 1 files)
  set(text "")
  set(literals "")
  foreach(file IN LISTS ${files})
    file(READ ${folder}/${file} part)
    # Lines that are only a comment, and indentation, are a quarter of the script.
    string(REGEX REPLACE "\n *//[^\n]*" "" part "\n${part}")
    string(REGEX REPLACE "\n +" "\n" part "${part}")
    string(APPEND text "${part}")
    # A compiler need not take a literal of more than 65,536 bytes.
    string(APPEND literals " + R\"asset(${part})asset\"")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
  endforeach()
  # The hash is that of the element's whole content.
  string(SHA256 hash "${text}")
  string(APPEND definitions "const PageAsset ${name}{std::string()${literals}, \"${hash}\"};\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/page_assets.cpp @ONLY CONTENT
"#include \"page/assets.h\"

namespace traceloom {

@definitions@
}  // namespace traceloom
")
target_sources(traceloom_page PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/page_assets.cpp)
