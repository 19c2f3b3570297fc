# SPDX-License-Identifier: Apache-2.0

# twinkle_add_library(<name> SOURCES … INCLUDE <dir> HEADERS …): a static library twinkle_<name>, known as
# twinkle::<name> here and to those who install it. HEADERS are public, and each has to compile alone.
function(twinkle_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INCLUDE" "SOURCES;HEADERS")
  set(target twinkle_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(twinkle::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${arg_INCLUDE} FILES ${arg_HEADERS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endfunction()

# twinkle_add_header_library(<name> INCLUDE <dir> HEADERS …): the same without sources.
function(twinkle_add_header_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INCLUDE" "HEADERS")
  set(target twinkle_${name})
  add_library(${target} INTERFACE)
  add_library(twinkle::${name} ALIAS ${target})
  target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS ${arg_INCLUDE} FILES ${arg_HEADERS})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
endfunction()
