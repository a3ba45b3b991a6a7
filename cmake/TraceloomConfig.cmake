# find_package(Traceloom): the target Traceloom::recorder. It needs nothing else to be found.
include(${CMAKE_CURRENT_LIST_DIR}/TraceloomTargets.cmake)
