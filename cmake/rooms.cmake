# A header is the first include of the source of its name (tests/layers), so only headers without one need a unit of
# their own to show that they compile alone: 26 units instead of 215. In a unity build only the first source of a room
# stands alone, so `./dev nightly` compiles all of them.
option(TRACELOOM_EVERY_HEADER_ALONE "Verify headers that have a source, too" OFF)
set(header_sets lone_headers)
if(TRACELOOM_EVERY_HEADER_ALONE)
  list(APPEND header_sets HEADERS)
endif()

# Rooms of the library: targets that find their sources in the folder of their name.
function(trace_module name)
  cmake_parse_arguments(M "" "" "DEPENDS;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" id ${name})
  list(TRANSFORM M_DEPENDS REPLACE "/" "_")
  list(TRANSFORM M_DEPENDS PREPEND traceloom_)
  set(target traceloom_${id})
  file(GLOB headers CONFIGURE_DEPENDS ${name}/*.h)
  file(GLOB sources CONFIGURE_DEPENDS ${name}/*.cpp)
  set(lone_headers ${headers})
  list(TRANSFORM sources REPLACE "\\.cpp$" ".h" OUTPUT_VARIABLE with_sources)
  list(REMOVE_ITEM lone_headers "" ${with_sources})
  list(REMOVE_ITEM headers "" ${lone_headers})
  set(scope PUBLIC)
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PRIVATE trace_options ${M_LIBRARIES})
    target_compile_definitions(${target} PRIVATE TRACELOOM_VERSION="${PROJECT_VERSION}")
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${target} ${scope} ${M_DEPENDS})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR} FILES ${headers}
                                   FILE_SET lone_headers TYPE HEADERS BASE_DIRS ${CMAKE_CURRENT_SOURCE_DIR}
                                   FILES ${lone_headers})
  add_library(traceloom::${id} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY TRACELOOM_ROOMS ${target})
  # Builds with a sanitizer optimise these alone: what reads and writes every byte of a trace.
  if(id MATCHES "^(base|json|event|input|scan|output|merge_write|merge_slices|merge_edits)$")
    set_target_properties(${target} PROPERTIES TRACELOOM_OPTIMIZED ON)
  endif()
  # What is done once a file or a result has no use for -O3: 58 s of processor time for the reports, with -O2 42.
  if(id MATCHES "^(table|gate|select|clock|analysis_(findings|job|memory|reports|verdict)|comparison.*|page.*|node_merge\
|identity_(ranks|clocks|repeats|capture)|merge_(options|planning)|record_(names|files|journal|host|c))$")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  # With TRACELOOM_UNITY a room is one unit, so its file-local names are unique in it.
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL}
                                             INTERFACE_HEADER_SETS_TO_VERIFY "${header_sets}" UNITY_BUILD_BATCH_SIZE 0)
endfunction()

# rooms_of(merge rooms): the targets of a folder and of all folders below it.
function(rooms_of folder out)
  get_property(rooms GLOBAL PROPERTY TRACELOOM_ROOMS)
  list(FILTER rooms INCLUDE REGEX "^traceloom_${folder}(_|$)")
  set(${out} ${rooms} PARENT_SCOPE)
endfunction()
