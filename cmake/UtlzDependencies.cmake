# Distribution packages, linked statically into the tools so that an installed folder can be moved
# to another machine. Debian's Abseil targets name shared libraries; pkg-config knows the order of
# the static archives.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_path(UTLZ_CLI11_INCLUDE CLI/CLI.hpp REQUIRED)
find_path(UTLZ_PROTOZERO_INCLUDE protozero/pbf_writer.hpp REQUIRED)
find_path(UTLZ_XXHASH_INCLUDE xxhash.h REQUIRED)
find_path(UTLZ_JSON_INCLUDE nlohmann/json.hpp REQUIRED)

# Makes target `name` from a pkg-config module's static archives.
function(utlz_static_package name module)
  pkg_check_modules(${name}_PC REQUIRED ${module})
  set(libraries "")
  foreach(library IN LISTS ${name}_PC_STATIC_LIBRARIES)
    find_library(${name}_${library}_ARCHIVE NAMES lib${library}.a
                 PATHS ${${name}_PC_STATIC_LIBRARY_DIRS})
    if(${name}_${library}_ARCHIVE AND NOT library MATCHES "^(rt|pthread|m|dl|atomic)$")
      list(APPEND libraries ${${name}_${library}_ARCHIVE})
    endif()
  endforeach()
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE ${${name}_PC_INCLUDE_DIRS})
  target_link_libraries(${name} INTERFACE
    "-Wl,--start-group" ${libraries} "-Wl,--end-group" Threads::Threads)
endfunction()
utlz_static_package(utlz_absl_status absl_statusor)
utlz_static_package(utlz_zstd libzstd)
utlz_static_package(utlz_zlib zlib)
