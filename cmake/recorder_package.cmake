# The libraries for other programs: the recorder and the merge per node as shared libraries, their headers, a CMake
# package and pkg-config files.
#
#   find_package(Traceloom REQUIRED)
#   target_link_libraries(train PRIVATE Traceloom::recorder)
#   target_link_libraries(train PRIVATE Traceloom::node_merge)   # with the recorder
#
# There are two libraries because the recorder runs inside a training and must not require TBB and RE2 if nothing is
# merged there. Both consist of the normal modules: all code is position-independent and hides its names, except those
# of an interface (`#pragma GCC visibility`, and the headers below).
include(CMakePackageConfigHelpers)

# shared_library(NAME FILE MODULE LIBRARY...): Traceloom::NAME, libFILE.so, with all of MODULE and what that uses
# of LIBRARIES.
function(shared_library name file module)
  set(target traceloom_${name}_library)
  add_library(${target} SHARED $<TARGET_OBJECTS:traceloom_${module}>)
  add_library(Traceloom::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${file} EXPORT_NAME ${name} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  target_link_libraries(${target} PRIVATE trace_options ${ARGN} Threads::Threads)
  target_link_options(${target} PRIVATE LINKER:--no-undefined LINKER:--as-needed)
  target_include_directories(${target} INTERFACE
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/traceloom>)
  install(TARGETS ${target} EXPORT TraceloomTargets)
endfunction()

shared_library(recorder traceloom record traceloom::output traceloom::scan traceloom::input)
# Threads of a program that has closed the library may still end in it.
target_link_options(traceloom_recorder_library PRIVATE LINKER:-z,nodelete)
target_compile_features(traceloom_recorder_library INTERFACE cxx_std_17)

shared_library(node_merge traceloom_node_merge node_merge traceloom::merge traceloom::output)
# The node merge takes the recorder's code from the other library, except these three files, which that one hides.
target_sources(traceloom_node_merge_library PRIVATE record/keep_forever.cpp record/own_file.cpp record/trace_file.cpp)
target_include_directories(traceloom_node_merge_library PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(traceloom_node_merge_library PRIVATE fmt::fmt ZLIB::ZLIB PUBLIC traceloom_recorder_library)
target_compile_features(traceloom_node_merge_library INTERFACE cxx_std_20)

# The further headers next to recorder.h, which is enough for most programs: schedules, names of files, the host. They
# are C++20 and include each other as in this tree, with "record/".
set(extra_headers host_recorder host_sampler memory_scope name_template proc_file proc_text run_place schedule trace_folder)
list(TRANSFORM extra_headers PREPEND record/)
list(TRANSFORM extra_headers APPEND .h)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Traceloom)
set(header_folder ${CMAKE_INSTALL_INCLUDEDIR}/traceloom)
install(FILES record/trace_handler.h ${extra_headers} DESTINATION ${header_folder}/record)
install(FILES node_merge/node_merger.h DESTINATION ${header_folder}/node_merge)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/recorder.h DESTINATION ${header_folder})
# recorder.h includes its parts from its own folder: <traceloom/recorder.h> needs one -I, or none below /usr/local,
# and a "record/session.h" of the program cannot be mistaken for ours.
foreach(header IN ITEMS recorder position slots marker timed_range session)
  file(READ record/${header}.h text)
  string(REPLACE "#include \"record/" "#include \"" text "${text}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/include/traceloom/record/${header}.h CONTENT "${text}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS record/${header}.h)
  install(FILES ${PROJECT_BINARY_DIR}/include/traceloom/record/${header}.h DESTINATION ${header_folder}/record)
endforeach()
# The C headers stand in one folder, for a makefile with one -I; in this tree they are found by their module.
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
