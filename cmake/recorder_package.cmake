# What other programs link: libtraceloom.so with the recorder's C++ and C interface, its headers, a CMake
# package and a pkg-config file.
#
#   find_package(Traceloom REQUIRED)
#   target_link_libraries(train PRIVATE Traceloom::recorder)
#
# The sources are compiled once more: position-independent, and with all names hidden but those of the
# interface, so that neither costs the tools anything. Not all modules: the recorder runs in somebody's
# training, and must not bring TBB along.
include(CMakePackageConfigHelpers)

set(sources "")
foreach(module IN ITEMS base event input scan output record)
  get_target_property(of_module traceloom_${module} SOURCES)
  list(APPEND sources ${of_module})
endforeach()
list(FILTER sources EXCLUDE REGEX "scan/scan_files.cpp$")

add_library(traceloom_recorder SHARED ${sources})
add_library(Traceloom::recorder ALIAS traceloom_recorder)
set_target_properties(traceloom_recorder PROPERTIES
  OUTPUT_NAME traceloom EXPORT_NAME recorder
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
target_compile_definitions(traceloom_recorder PRIVATE
  TRACELOOM_VERSION="${PROJECT_VERSION}" $<TARGET_PROPERTY:traceloom_scan,COMPILE_DEFINITIONS>)
target_include_directories(traceloom_recorder PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(traceloom_recorder PRIVATE trace_options fmt::fmt ZLIB::ZLIB isal xxhash Threads::Threads)
target_link_options(traceloom_recorder PRIVATE
  # Threads of a program that has closed the library may still end in it.
  "LINKER:-z,nodelete")
# Beside recorder.h, which is all that most programs include: schedules, names of files, the host. They are C++20
# and find each other as here, by "record/".
set(extra_modules host_recorder host_sampler memory_scope name_template proc_file proc_text run_place schedule trace_folder)
set(extra_headers ${extra_modules})
list(TRANSFORM extra_headers PREPEND record/)
list(TRANSFORM extra_headers APPEND .h)
set(extra_sources ${extra_modules})
list(TRANSFORM extra_sources PREPEND record/)
list(TRANSFORM extra_sources APPEND .cpp)
set_source_files_properties(${extra_sources} PROPERTIES COMPILE_OPTIONS -fvisibility=default)
target_include_directories(traceloom_recorder INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/traceloom>)
target_compile_features(traceloom_recorder INTERFACE cxx_std_17)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Traceloom)
install(TARGETS traceloom_recorder EXPORT TraceloomTargets)
install(FILES record/recorder.h record/trace_handler.h ${extra_headers}
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/traceloom/record)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/recorder.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/traceloom)
install(FILES record/traceloom.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT TraceloomTargets NAMESPACE Traceloom:: DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TraceloomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/TraceloomConfig.cmake ${PROJECT_BINARY_DIR}/TraceloomConfigVersion.cmake
        DESTINATION ${package_folder})
# By its own place, so that the tree may be moved.
file(RELATIVE_PATH up_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/traceloom.pc.in ${PROJECT_BINARY_DIR}/traceloom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/traceloom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
