# SPDX-License-Identifier: GPL-2.0-or-later
# roce_soname(VARIABLE LIBRARY) sets VARIABLE to the name that the linker would have noted for the shared LIBRARY: programs
# load it by that name, when they need it.
function(roce_soname variable library)
  file(REAL_PATH "${library}" file)
  execute_process(COMMAND ${CMAKE_READELF} -d "${file}" OUTPUT_VARIABLE dynamic ERROR_QUIET)
  if(dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]]+)\\]")
    set(${variable} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  else() # not ELF
    get_filename_component(name "${file}" NAME)
    set(${variable} "${name}" PARENT_SCOPE)
  endif()
endfunction()
