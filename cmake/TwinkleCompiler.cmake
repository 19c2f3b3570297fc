# SPDX-License-Identifier: Apache-2.0
# Flags for everything below this directory. Nothing here reaches those who link our targets.

add_compile_options(-Wall -Wextra -Wpedantic)
if(TWINKLE_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # g++ refuses designated initialisers that are out of order; clang would only warn.
  add_compile_options(-Werror=reorder-init-list)
  # libstdc++ 12's own std::stable_sort uses what it deprecates; g++ still looks for ours.
  add_compile_options(-Wno-deprecated-declarations)
endif()

if(TWINKLE_SANITIZE)
  add_compile_options(-fsanitize=${TWINKLE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # A null pointer is a fault of its own, and the fuzzers look at alignment: these checks are half of a build's time.
  add_compile_options(-fno-sanitize=null,alignment,object-size,vptr,nonnull-attribute,returns-nonnull-attribute)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  if(TWINKLE_SANITIZE STREQUAL thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)  # Asio has fences, which no test of threads reaches
  endif()
  add_link_options(-fsanitize=${TWINKLE_SANITIZE})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees uninitialised reads in moves of std::variant and std::optional that are none; clang watches instead.
  add_compile_options(-Wno-maybe-uninitialized)
endif()

# Paths in messages (source_location, __FILE__, sanitizers) start at the repository, on every machine.
cmake_path(RELATIVE_PATH PROJECT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_BINARY_DIR} OUTPUT_VARIABLE to_source)
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${to_source}/=)

if(PROJECT_IS_TOP_LEVEL AND NOT TWINKLE_SYNTAX_ONLY AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CCACHE ccache)
  if(CCACHE)
    # With relative paths a second clone of the repository finds the first one's objects.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  endif()
endif()

if(TWINKLE_SYNTAX_ONLY)
  # Every step checks or touches: the build keeps its incremental knowledge of what has to be looked at again.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_CURRENT_LIST_DIR}/syntax_only.sh)
  set(CMAKE_CXX_ARCHIVE_CREATE "${CMAKE_COMMAND} -E touch <TARGET>")
  set(CMAKE_CXX_ARCHIVE_APPEND "${CMAKE_COMMAND} -E true")
  set(CMAKE_CXX_ARCHIVE_FINISH "${CMAKE_COMMAND} -E true")
  set(CMAKE_CXX_LINK_EXECUTABLE "${CMAKE_COMMAND} -E touch <TARGET>")
endif()
