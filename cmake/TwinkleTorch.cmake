# SPDX-License-Identifier: Apache-2.0
# Sets TWINKLE_HAS_TORCH. Everything but twinkle::torch and what stands on it builds without libtorch.

set(TWINKLE_HAS_TORCH OFF)
if(NOT TWINKLE_TORCH)
  message(STATUS "twinkle::torch: skipped, with its tests and examples (TWINKLE_TORCH is OFF)")
elseif(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  message(STATUS "twinkle::torch: skipped, with its tests and examples (libtorch's headers need g++ in C++20)")
else()
  set(CMAKE_MESSAGE_LOG_LEVEL WARNING) # its package is talkative
  find_package(Torch QUIET)
  unset(CMAKE_MESSAGE_LOG_LEVEL)
  if(Torch_FOUND)
    set(TWINKLE_HAS_TORCH ON)
  else()
    message(STATUS "twinkle::torch: skipped, with its tests and examples (no libtorch; get it with "
                   "tools/install --torch, or apt-get install libtorch-dev libopenblas0-pthread)")
  endif()
endif()
