# Compiles several files of a program as one: what GoogleTest's or CLI11's inline code takes is then
# paid once for all of them. Every name in their anonymous namespaces has to be one of a kind. Presets
# for daily work (`dev`) switch it off: a change then compiles one file alone, and a file that lacks
# an include is found.
option(UTLZ_UNITY_BUILD "Compile several files of tests and programs as one" ON)

# As even as can be, so that no core waits for one large unit: ten files are two units of five.
function(utlz_build_in_units target files_at_most)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  # What lies in another folder has names of its own there, and is compiled by itself.
  set(others ${sources})
  list(FILTER others INCLUDE REGEX "^/")
  set_source_files_properties(${others} TARGET_DIRECTORY ${target}
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  list(FILTER sources EXCLUDE REGEX "^/")
  list(LENGTH sources files)
  math(EXPR units "(${files} + ${files_at_most} - 1) / ${files_at_most}")
  if(NOT UTLZ_UNITY_BUILD OR units EQUAL 0)
    return()
  endif()
  math(EXPR files_in_unit "(${files} + ${units} - 1) / ${units}")
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files_in_unit})
endfunction()
