# Makes the Debian packages of the build tree, installs both into an empty root with dpkg, and uses them from there: the
# tools, and programs that are built against the recorder's package. Root is not needed.
#
#   cmake -DBUILD=<build tree> -DSOURCE=<tests/package> -DFOLDER=<for all of it>
#         -DSANITIZE=<what the build tree was built with, or nothing> -DCOMPILER=<of C++, there> -DGENERATOR=<that of the build tree>
#         -P check_debian.cmake
cmake_minimum_required(VERSION 3.24)

include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

function(expect text pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "no '${pattern}' in:\n${text}")
  endif()
endfunction()

# dpkg wants programs that only root has on its PATH.
set(ENV{PATH} "$ENV{PATH}:/usr/local/sbin:/usr/sbin:/sbin")
foreach(program IN ITEMS dpkg dpkg-shlibdeps file)
  find_program(found_${program} ${program})
  if(NOT found_${program})
    message(FATAL_ERROR "${program} is missing; scripts/install-deps.sh test installs it")
  endif()
endforeach()

file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
cmake_path(GET CMAKE_COMMAND PARENT_PATH programs)
# dpkg-shlibdeps takes 15 s for programs with a sanitizer, so only the release build has dependencies to check (.ci/run).
set(options -D CPACK_DEBIAN_COMPRESSION_TYPE=none)
if(SANITIZE)
  list(APPEND options -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF)
endif()
run(${programs}/cpack --config ${BUILD}/CPackConfig.cmake ${options} -B ${FOLDER}/packages)
file(GLOB tools ${FOLDER}/packages/traceloom_*.deb)
file(GLOB recorder ${FOLDER}/packages/libtraceloom-dev_*.deb)

if(NOT SANITIZE)
  run(dpkg-deb --field ${tools} Depends)
  expect("${output}" "libc6 .*libfmt.*libre2.*libsimdjson.*libstdc..6.*libtbb.*libyaml-cpp.*zlib1g")
  run(dpkg-deb --field ${recorder} Depends)
  expect("${output}" "libc6 .*libfmt.*libre2.*libsimdjson.*libstdc..6.*libtbb.*zlib1g")
endif()

# The root holds nothing but dpkg's own files, so dpkg does not find the packages that these depend on: they are in the
# root of this machine. Images of containers often leave documents out (path-exclude).
set(root ${FOLDER}/root)
file(MAKE_DIRECTORY ${root}/var/lib/dpkg/info ${root}/var/lib/dpkg/updates ${root}/var/lib/dpkg/triggers)
file(TOUCH ${root}/var/lib/dpkg/status)
run(dpkg --root=${root} --log=${FOLDER}/dpkg.log --path-include=/usr/share/* --force-not-root,depends,unsafe-io
    --install ${tools} ${recorder})
run(dpkg-query --admindir=${root}/var/lib/dpkg --show --showformat=\${Package}:\${db:Status-Status}\n)
expect("${output}" "^libtraceloom-dev:installed\ntraceloom:installed\n$")

set(bin ${root}/usr/bin)
set(share ${root}/usr/share)
foreach(file IN ITEMS
        man/man1/trace-merge.1 man/man1/trace-stats.1 man/man1/trace-stats-gpu.1 man/man1/trace-record.1
        bash-completion/completions/trace-stats zsh/vendor-completions/_trace-stats fish/vendor_completions.d/trace-stats.fish
        doc/traceloom/copyright doc/traceloom/README.md doc/traceloom/docs/commands/gpu.md doc/libtraceloom-dev/copyright)
  if(NOT EXISTS ${share}/${file})
    message(FATAL_ERROR "no ${file} in the packages")
  endif()
endforeach()
# The documents that a help text names are there.
foreach(tool IN ITEMS trace-merge trace-record trace-stats)
  run(${bin}/${tool} --help)
  expect("${output}" "Definitions: (docs/commands/[a-zA-Z-]+.md)")
  if(NOT EXISTS ${share}/doc/traceloom/${CMAKE_MATCH_1})
    message(FATAL_ERROR "${tool} --help names ${CMAKE_MATCH_1}, which is not in the packages")
  endif()
endforeach()

use_library_in(${root}/usr)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${FOLDER}/consumer -DCMAKE_PREFIX_PATH=${root}/usr -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_C_FLAGS=${flags} -DCMAKE_CXX_FLAGS=${flags} -DREADME_PROGRAM=${SOURCE}/train)
run(${CMAKE_COMMAND} --build ${FOLDER}/consumer --target train_c train_cpp train_merged ${FOLDER}/consumer/train_pkg)
run(${FOLDER}/consumer/train_c ${FOLDER}/traces)
run(${FOLDER}/consumer/train_cpp ${FOLDER}/traces)
run(${FOLDER}/consumer/train_pkg ${FOLDER}/traces)
run(${FOLDER}/consumer/train_merged ${FOLDER}/node)
run(${bin}/trace-merge ${FOLDER}/traces -o ${FOLDER}/merged.json)
run(${bin}/trace-stats check ${FOLDER}/merged.json ${FOLDER}/node/merged/node0.json)
run(${bin}/trace-record -o ${FOLDER}/host -- true)
run(${bin}/trace-stats info ${FOLDER}/host)
expect("${output}" "host-node0.json")
