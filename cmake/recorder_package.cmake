# The libraries for other programs: the recorder and the merge per node as shared libraries, their headers, a CMake
# package and pkg-config files.
#
#   find_package(Traceloom REQUIRED)
#   target_link_libraries(train PRIVATE Traceloom::recorder)
#   target_link_libraries(train PRIVATE Traceloom::node_merge)   # with the recorder
#
# There are two libraries because the recorder runs inside a training and must not require TBB and RE2 if nothing is
# merged there. Both consist of the normal modules, and export the functions for C alone: C++ is inline calls of them, so
# that a program may have another standard library, or form of std::string, than they have.
include(CMakePackageConfigHelpers)

# shared_library(NAME FILE FOLDER LIBRARY...): Traceloom::NAME, libFILE.so, with all rooms of FOLDER and what these
# use of LIBRARIES.
function(shared_library name file folder)
  set(target traceloom_${name}_library)
  add_library(${target} SHARED)
  rooms_of(${folder} rooms)
  foreach(room IN LISTS rooms)
    get_target_property(type ${room} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:${room}>)
    endif()
  endforeach()
  add_library(Traceloom::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${file} EXPORT_NAME ${name} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_link_libraries(${target} PRIVATE trace_options ${ARGN} Threads::Threads)
  target_link_options(${target} PRIVATE LINKER:--as-needed LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
  # What a sanitizer calls is in the program, where clang has compiled it.
  if(NOT TRACELOOM_SANITIZE)
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
  target_include_directories(${target} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/traceloom>)
  install(TARGETS ${target} EXPORT TraceloomTargets)
endfunction()

shared_library(recorder traceloom record traceloom::output traceloom::scan traceloom::input)
# Threads of a program that has closed the library may still end in it.
target_link_options(traceloom_recorder_library PRIVATE LINKER:-z,nodelete)
target_compile_features(traceloom_recorder_library INTERFACE cxx_std_17)

shared_library(node_merge traceloom_node_merge node_merge traceloom::merge traceloom::output)
# What it uses of the recorder comes from the other library, but for these, which that does not show.
target_sources(traceloom_node_merge_library PRIVATE record/support/process_support.cpp record/files/trace_file.cpp
               record/names/session_place.cpp record/names/program_handler.cpp record/names/name_template.cpp
               record/names/run_place.cpp)
target_include_directories(traceloom_node_merge_library PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(traceloom_node_merge_library PRIVATE fmt::fmt PUBLIC traceloom_recorder_library)
target_compile_features(traceloom_node_merge_library INTERFACE cxx_std_17)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Traceloom)
set(header_folder ${CMAKE_INSTALL_INCLUDEDIR}/traceloom)
# install_header(FILE [TEXT BY]): FILE below traceloom/ in the folder of its name. The headers for C lie above.
function(install_header file)
  file(READ ${file} text)
  string(REGEX REPLACE "#include \"[a-z_]+/(traceloom[a-z_]*.h)\"" "#include <\\1>" text "${text}")
  if(ARGC GREATER 1)
    string(REPLACE ${ARGN} text "${text}")
  endif()
  string(REGEX REPLACE "/.*" "" folder ${file})
  cmake_path(GET file FILENAME name)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/traceloom/${folder}/${name} CONTENT "${text}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  install(FILES ${PROJECT_BINARY_DIR}/include/traceloom/${folder}/${name} DESTINATION ${header_folder}/${folder})
endfunction()

install(FILES ${PROJECT_SOURCE_DIR}/cmake/recorder.h DESTINATION ${header_folder})
# recorder.h finds its parts next to itself: <traceloom/recorder.h> needs one -I, or none below /usr/local, and no
# "record/session.h" of the program is taken for ours.
# What few programs need besides recorder.h: schedules, the host, memory.
foreach(header IN ITEMS recorder failure position slots marker timed_range session trace_handler schedule host_recorder
                        memory_scope)
  install_header(record/${header}.h "#include \"record/" "#include \"")
endforeach()
install_header(node_merge/node_merger.h "#include \"record/" "#include \"../record/")
# Those for C lie side by side, for a makefile with one -I; here headers are found by their module.
file(READ node_merge/traceloom_node_merge.h node_merge_header)
string(REPLACE "\"record/traceloom.h\"" "\"traceloom.h\"" node_merge_header "${node_merge_header}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/traceloom_node_merge.h CONTENT "${node_merge_header}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS node_merge/traceloom_node_merge.h)
install(FILES record/traceloom.h ${PROJECT_BINARY_DIR}/include/traceloom_node_merge.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT TraceloomTargets NAMESPACE Traceloom:: DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TraceloomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/TraceloomConfig.cmake ${PROJECT_BINARY_DIR}/TraceloomConfigVersion.cmake
        DESTINATION ${package_folder})
# The .pc files use their own place, so that the tree may be moved.
file(RELATIVE_PATH up_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(package IN ITEMS traceloom traceloom-node-merge)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
