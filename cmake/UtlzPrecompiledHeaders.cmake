# Parses the headers of the standard library, Abseil, protobuf and GoogleTest, and the two largest that
# protoc writes, once a build instead of once a file: that is more than half of what compiling a file of
# this project takes. No header of the project itself is among them, so every file still includes what it
# uses of those.
option(UTLZ_PRECOMPILED_HEADERS "Precompile the headers of libraries" ON)

# GCC and clang take a precompiled header only in a target with the same options. So there is one for
# libraries (-fPIC), one for programs (-fPIE), and one for unit tests, which are optimized less.
function(utlz_add_precompiled_headers target type)
  set(source ${CMAKE_BINARY_DIR}/${target}.cc)
  file(CONFIGURE OUTPUT ${source}
       CONTENT "// ${target} is there for its precompiled headers alone.\nint main() {}\n")
  if(type STREQUAL EXECUTABLE)
    add_executable(${target} EXCLUDE_FROM_ALL ${source})
  else()
    add_library(${target} STATIC EXCLUDE_FROM_ALL ${source})
  endif()
  target_link_libraries(${target} PRIVATE utlz_compiler utlz_proto)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <cerrno> <chrono> <cmath> <cstdint> <cstdio> <cstring> <functional> <limits>
    <map> <memory> <optional> <set> <span> <string> <string_view> <utility> <vector>
    <absl/status/status.h> <absl/status/statusor.h> <absl/strings/numbers.h> <absl/strings/str_cat.h>
    <google/protobuf/extension_set.h> <google/protobuf/generated_message_util.h>
    <google/protobuf/io/coded_stream.h> <google/protobuf/map.h> <google/protobuf/message.h>
    <google/protobuf/repeated_field.h> <google/protobuf/unknown_field_set.h>
    <proto/profile.pb.h> <proto/summary.pb.h> ${ARGN})
endfunction()

# For every target of that type below `folder` that is compiled with utlz_compiler's options and links
# a library whose name matches `library`.
function(utlz_use_precompiled_headers folder type precompiled library)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(target_type ${target} TYPE)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(target_type STREQUAL type AND utlz_compiler IN_LIST libraries AND libraries MATCHES "${library}")
      target_precompile_headers(${target} REUSE_FROM ${precompiled})
    endif()
  endforeach()
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS subfolders)
    utlz_use_precompiled_headers(${subfolder} ${type} ${precompiled} ${library})
  endforeach()
endfunction()
