# What `cpack` in a build folder makes: Debian packages of the components that the install rules belong to.
#
#   traceloom_*.deb          component tools: the tools, their manual pages and completions, the documents
#   traceloom-mpi_*.deb      component mpi, where an MPI was found: the library that --mpi opens
#   libtraceloom-dev_*.deb   component recorder: both libraries, headers, CMake package and pkg-config files
#
# dpkg-shlibdeps finds the packages on which the programs and libraries depend.
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
# Debian looks for the licence of a package here.
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools RENAME copyright)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libtraceloom-dev COMPONENT recorder RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME traceloom)
# Each package has a summary of its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGE_CONTACT "The Traceloom authors <traceloom@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL tools recorder)
if(TARGET traceloom_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The merge per node needs the recorder's library, which is in the same package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME traceloom)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION
    "merge and analyse traces of distributed training
trace-merge merges the Chrome JSON traces of many ranks into one on one clock,
trace-stats says what limits the run, and trace-record records a machine.")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME traceloom-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "traceloom (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_MPI_DESCRIPTION
    "traces of many nodes analysed by many processes
With this library mpirun and srun start the tools of Traceloom as one team:
trace-stats --mpi.")
set(CPACK_DEBIAN_RECORDER_PACKAGE_NAME libtraceloom-dev)
set(CPACK_DEBIAN_RECORDER_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_RECORDER_DESCRIPTION
    "recorder of Traceloom for programs in C++ and C
A training program links this library to record itself as Chrome JSON traces.
A second library merges all ranks of a node while they train.")
# Debian's policy asks for a trigger that runs ldconfig. CPack writes scripts for that instead, unless others are named
# here, and skips those that do not exist.
set(CPACK_DEBIAN_RECORDER_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/cmake/debian/triggers
    ${PROJECT_SOURCE_DIR}/cmake/debian/none/postinst ${PROJECT_SOURCE_DIR}/cmake/debian/none/postrm)
include(CPack)
