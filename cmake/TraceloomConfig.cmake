# find_package(Traceloom): the targets Traceloom::recorder and Traceloom::node_merge. They need nothing else to be found.
include(${CMAKE_CURRENT_LIST_DIR}/TraceloomTargets.cmake)
