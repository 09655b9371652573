# SPDX-License-Identifier: GPL-2.0-or-later
# Compiler flags for every target of the project.
add_compile_options(
  $<$<COMPILE_LANGUAGE:C>:-Wall> $<$<COMPILE_LANGUAGE:C>:-Wextra> $<$<COMPILE_LANGUAGE:C>:-Wpedantic>
  $<$<COMPILE_LANGUAGE:C>:-Wshadow> $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
  $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wpointer-arith>
  $<$<COMPILE_LANGUAGE:C>:-Wcast-qual> $<$<COMPILE_LANGUAGE:C>:-Wwrite-strings> $<$<COMPILE_LANGUAGE:C>:-Wvla>
  $<$<COMPILE_LANGUAGE:C>:-Wswitch> $<$<COMPILE_LANGUAGE:C>:-Wformat=2> $<$<COMPILE_LANGUAGE:C>:-Wconversion>
  $<$<COMPILE_LANGUAGE:C>:-Wno-sign-conversion>)
if(ROCE_WERROR)
  add_compile_options(-Werror)
endif()
if(ROCE_SANITIZE)
  add_compile_options(-fsanitize=${ROCE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ROCE_SANITIZE})
endif()
if(ROCE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(ROCE_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
