# SPDX-License-Identifier: Apache-2.0
# find_package(twinkle) gives twinkle::core, twinkle::actors, twinkle::interop and twinkle::testing; COMPONENTS torch adds twinkle::torch.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/twinkle)

set(targets)
foreach(target IN ITEMS twinkle_core twinkle_actors twinkle_interop twinkle_testing)
  if(TARGET ${target})
    list(APPEND targets ${target})
  endif()
endforeach()
if(NOT targets OR TWINKLE_SYNTAX_ONLY)
  return()
endif()

install(TARGETS ${targets} EXPORT twinkleTargets FILE_SET HEADERS)
install(EXPORT twinkleTargets NAMESPACE twinkle:: DESTINATION ${package_dir})
if(TARGET twinkle_torch)
  install(TARGETS twinkle_torch EXPORT twinkleTorchTargets FILE_SET HEADERS)
  install(EXPORT twinkleTorchTargets NAMESPACE twinkle:: DESTINATION ${package_dir})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/twinkleConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/twinkleConfig.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/twinkleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/twinkleConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/twinkleConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindCAF.cmake
  DESTINATION ${package_dir})
