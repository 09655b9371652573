# SPDX-License-Identifier: GPL-2.0-or-later
# Link-time optimisation of the programs: the decoder and the flow state are many small functions, and a call for each
# costs about 12 % of their time. Objects stay ordinary ones, too ("fat"), for the archive that is installed, for the
# tests and for the lints. GCC only: clang's objects would be of no use to others.
if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR ROCE_SANITIZE OR ROCE_COVERAGE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(ROCE_LTO OFF)
endif()

function(roce_lto_objects)
  if(ROCE_LTO)
    foreach(target ${ARGN})
      target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
    endforeach()
  endif()
endfunction()

function(roce_lto_program target)
  if(ROCE_LTO)
    target_compile_options(${target} PRIVATE -flto=auto -ffat-lto-objects)
    target_link_options(${target} PRIVATE -flto=auto -O3 -Wno-stringop-overflow)
  endif()
endfunction()
