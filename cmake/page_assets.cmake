# The style and scripts of the report page as literals of C++, with their hashes: lib/page/assets.h says what for.
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/page/assets)
foreach(asset IN ITEMS "kPageStyle page.css" "kPageScript page.js" "kTimelineScript timeline.js")
  separate_arguments(asset)
  list(GET asset 0 name)
  list(GET asset 1 file)
  file(READ ${folder}/${file} text)
  # The hash is that of the element's whole content.
  string(SHA256 hash "${text}")
  string(APPEND definitions "const PageAsset ${name}{R\"asset(${text})asset\", \"${hash}\"};\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/page_assets.cpp @ONLY CONTENT
"#include \"page/assets.h\"

namespace traceloom {

@definitions@
}  // namespace traceloom
")
target_sources(traceloom_page PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/page_assets.cpp)
