# SPDX-License-Identifier: Apache-2.0
# CAF 0.17 as Debian ships it has no CMake package of its own; later ones do, and theirs is taken first.
# Components: core (always), io, openssl. Targets: CAF::core, CAF::io, CAF::openssl.

find_package(CAF CONFIG QUIET COMPONENTS ${CAF_FIND_COMPONENTS})
if(TARGET CAF::core)
  return()
endif()

find_path(CAF_INCLUDE_DIR caf/config.hpp)
if(CAF_INCLUDE_DIR)
  # 1706 means 0.17.6
  file(STRINGS ${CAF_INCLUDE_DIR}/caf/config.hpp version_line REGEX "#define CAF_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version "${version_line}")
  if(version)
    math(EXPR minor "${version} / 100 % 100")
    math(EXPR patch "${version} % 100")
    set(CAF_VERSION 0.${minor}.${patch})
  endif()
endif()

foreach(component IN ITEMS core io openssl)
  find_library(CAF_${component}_LIBRARY caf_${component})
  mark_as_advanced(CAF_${component}_LIBRARY)
  if(CAF_INCLUDE_DIR AND CAF_${component}_LIBRARY)
    set(CAF_${component}_FOUND TRUE)
  endif()
endforeach()
mark_as_advanced(CAF_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF
  REQUIRED_VARS CAF_core_LIBRARY CAF_INCLUDE_DIR
  VERSION_VAR CAF_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE "get it with tools/install, or apt-get install libcaf-dev")

if(CAF_FOUND)
  set(needs_core Threads::Threads)
  set(needs_io CAF::core)
  set(needs_openssl CAF::io)
  find_package(Threads REQUIRED)
  foreach(component IN ITEMS core io openssl)
    if(CAF_${component}_FOUND AND NOT TARGET CAF::${component})
      add_library(CAF::${component} UNKNOWN IMPORTED)
      set_target_properties(CAF::${component} PROPERTIES
        IMPORTED_LOCATION ${CAF_${component}_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${CAF_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES ${needs_${component}})
    endif()
  endforeach()
endif()
