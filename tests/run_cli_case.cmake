# Runs one folder of testdata/cli/ as a test and compares what it prints and writes, byte by byte:
#
#   cmake -DCASE=<folder> -DSCRATCH=<folder> -DTOOLS=<bin folder> -DSOURCE_DIR=<tree> -P run_cli_case.cmake
#
#   cmd               bash script; runs in SCRATCH, which holds copies of the folder's other files
#   stdout stderr     expected text; a file that is absent means: nothing
#   exit              expected exit code; absent means 0
#   expect/           files which SCRATCH must hold afterwards
#
# The script finds the tools on PATH and testdata/ as "$TESTDATA". That is a relative path, through a
# link in SCRATCH, so that messages which name a file are the same on every machine.
#
# With UPDATE=1 in the environment the folder is rewritten to what happened; review the diff. A case that cannot run
# here, because a program is missing, is left as it is, and fails.
cmake_minimum_required(VERSION 3.24)

cmake_path(GET SCRATCH FILENAME test)
set(actual ${SCRATCH}.actual)
set(empty ${actual}/empty)

function(run_case)
  file(REMOVE_RECURSE ${SCRATCH} ${actual})
  file(MAKE_DIRECTORY ${SCRATCH} ${actual})
  file(TOUCH ${empty})
  file(COPY ${CASE}/ DESTINATION ${SCRATCH} NO_SOURCE_PERMISSIONS)
  foreach(own IN ITEMS cmd stdout stderr exit expect)
    file(REMOVE_RECURSE ${SCRATCH}/${own})
  endforeach()
  file(CREATE_LINK ${SOURCE_DIR}/testdata ${SCRATCH}/testdata SYMBOLIC)
  # bash calls this function for each program that it does not find, wherever the script sends what bash says of it.
  set(note_missing "() { echo \"$1\" >> '${actual}/missing'
    echo \"$0: line \${BASH_LINENO[0]}: $1: command not found\" >&2
    return 127
  }")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=COLUMNS --unset=UPDATE "PATH=${TOOLS}:$ENV{PATH}"
            "BASH_FUNC_command_not_found_handle%%=${note_missing}" TESTDATA=testdata SOURCE_DIR=${SOURCE_DIR} LC_ALL=C.UTF-8 TZ=UTC bash ${CASE}/cmd
    WORKING_DIRECTORY ${SCRATCH}
    OUTPUT_FILE ${actual}/stdout ERROR_FILE ${actual}/stderr RESULT_VARIABLE code)
  file(WRITE ${actual}/exit "${code}\n")
  forget_speed(${actual}/stderr)
endfunction()

# A merge that takes a second prints its time. With a sanitizer, or while other work runs, any merge may do so.
function(forget_speed file)
  file(READ ${file} text)
  string(REGEX REPLACE " in [0-9.]+ s \\([0-9]+ MB/s\\)\n" "\n" without "${text}")
  if(NOT text STREQUAL without)
    file(WRITE ${file} "${without}")
  endif()
endfunction()

# Why the case did not run as it would where everything is installed, or nothing. What it printed is then no expectation.
function(why_not_run reason_out)
  file(STRINGS ${actual}/exit code)
  # bash names the script by its whole path, which no expectation can hold. The others start a program for the script.
  execute_process(
    COMMAND grep -aEhm1 -e "/cmd: line [0-9]+: " -e "^[^ ]*sh: [0-9]+: .*: not found$"
            -e "^(env|nice|nohup|setsid|stdbuf|timeout|xargs): .*(No such file or directory|Permission denied)$"
            ${actual}/stderr ${actual}/stdout
    OUTPUT_VARIABLE said)
  if(EXISTS ${actual}/missing)
    file(STRINGS ${actual}/missing programs)
    list(REMOVE_DUPLICATES programs)
    list(JOIN programs ", " programs)
    set(reason "not installed: ${programs}")
  elseif(said)
    string(REGEX REPLACE "\n.*" "" reason "${said}")
  elseif(code MATCHES "^12[67]$")
    set(reason "it exits with ${code}, as a shell does that finds no program; if it should, print the code: echo $?")
  elseif(NOT code MATCHES "^[0-9]+$")
    set(reason "bash did not end by itself: ${code}")
  endif()
  set(${reason_out} ${reason} PARENT_SCOPE)
endfunction()

# Two lists of files, to be compared one by one.
function(list_files expected_out actual_out)
  set(expected ${CASE}/stdout ${CASE}/stderr ${CASE}/exit)
  set(got ${actual}/stdout ${actual}/stderr ${actual}/exit)
  file(GLOB_RECURSE files RELATIVE ${CASE}/expect ${CASE}/expect/*)
  foreach(file IN LISTS files)
    list(APPEND expected ${CASE}/expect/${file})
    list(APPEND got ${SCRATCH}/${file})
  endforeach()
  set(${expected_out} ${expected} PARENT_SCOPE)
  set(${actual_out} ${got} PARENT_SCOPE)
endfunction()

# An expected file which is absent stands for an empty one, or for exit code 0.
function(default_of expected out)
  if(EXISTS ${expected})
    set(${out} ${expected} PARENT_SCOPE)
  elseif(expected STREQUAL "${CASE}/exit")
    file(WRITE ${actual}/zero "0\n")
    set(${out} ${actual}/zero PARENT_SCOPE)
  else()
    set(${out} ${empty} PARENT_SCOPE)
  endif()
endfunction()

function(compare expected got)
  cmake_path(RELATIVE_PATH expected BASE_DIRECTORY ${CASE} OUTPUT_VARIABLE label)
  if(NOT EXISTS ${got})
    message("${label}: the script did not write it")
    set(failed TRUE PARENT_SCOPE)
    return()
  endif()
  default_of(${expected} reference)
  execute_process(
    COMMAND diff -u --label "${label} (expected)" --label "${label} (got)" ${reference} ${got}
    OUTPUT_VARIABLE difference RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    string(REGEX REPLACE "\n$" "" difference "${difference}")
    message("${difference}")
    set(failed TRUE PARENT_SCOPE)
  endif()
endfunction()

function(rewrite expected got)
  file(REMOVE ${expected})
  if(NOT EXISTS ${got})
    return()
  endif()
  default_of(${expected} reference)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${reference} ${got} RESULT_VARIABLE code
                  OUTPUT_QUIET ERROR_QUIET)
  # Output that equals the default needs no file. But a file in expect/ must exist to be expected.
  if(NOT code EQUAL 0 OR expected MATCHES "/expect/")
    file(COPY_FILE ${got} ${expected})
  endif()
endfunction()

run_case()
if("$ENV{UPDATE}")
  why_not_run(reason)
  if(reason)
    message(FATAL_ERROR "${test} cannot run here, so what it expects stays: ${reason}")
  endif()
endif()
list_files(expected_files actual_files)
set(failed FALSE)
foreach(expected got IN ZIP_LISTS expected_files actual_files)
  if("$ENV{UPDATE}")
    rewrite(${expected} ${got})
  else()
    compare(${expected} ${got})
  endif()
endforeach()
if(failed)
  message(FATAL_ERROR "${test} differs; if it should: UPDATE=1 ctest -R '${test}$'")
endif()
