# Links files for C libraries older than the build machine's
# (docs/decisions/0023-older-systems-by-stub-libraries.md). A file that
# utlz_link_for_older_systems() names starts wherever there is glibc UTLZ_GLIBC_FLOOR.
set(UTLZ_GLIBC_FLOOR 2.28)
set(older_glibc_default ON)
if(UTLZ_SANITIZER)
  set(older_glibc_default OFF)  # a sanitizer's run-time library needs this machine's C library
endif()
option(UTLZ_OLDER_GLIBC "Link for systems down to glibc ${UTLZ_GLIBC_FLOOR}" ${older_glibc_default})

set(UTLZ_OLDER_GLIBC_SOURCES ${CMAKE_SOURCE_DIR}/cmake/older_glibc)
set(UTLZ_OLDER_GLIBC_STUBS ${CMAKE_BINARY_DIR}/older_glibc)
if(UTLZ_OLDER_GLIBC)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  separate_arguments(compiler_arguments UNIX_COMMAND "${CMAKE_C_FLAGS}")
  if(CMAKE_SYSROOT)
    list(APPEND compiler_arguments --sysroot=${CMAKE_SYSROOT})
  endif()
  execute_process(
    COMMAND ${Python3_EXECUTABLE} -B ${UTLZ_OLDER_GLIBC_SOURCES}/make_stubs.py
            --maximum ${UTLZ_GLIBC_FLOOR} --output ${UTLZ_OLDER_GLIBC_STUBS}
            -- ${CMAKE_C_COMPILER} ${compiler_arguments}
    COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${UTLZ_OLDER_GLIBC_SOURCES}/make_stubs.py)

  add_library(utlz_newer_functions OBJECT ${UTLZ_OLDER_GLIBC_SOURCES}/newer_functions.c)
  add_library(utlz_program_start OBJECT ${UTLZ_OLDER_GLIBC_SOURCES}/program_start.c)
  foreach(library utlz_newer_functions utlz_program_start)
    target_compile_options(${library} PRIVATE ${UTLZ_FOLDER_NOT_NAMED} -O2 -Wall -Wextra -Werror -ffunction-sections
                                              -fdata-sections)
  endforeach()
endif()

function(utlz_link_for_older_systems target)
  if(UTLZ_OLDER_GLIBC)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:utlz_newer_functions>)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections
                        -L${UTLZ_OLDER_GLIBC_STUBS}
                        -Wl,--push-state,--no-as-needed -lpthread -ldl -Wl,--pop-state)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:utlz_program_start>)
      target_link_options(${target} PRIVATE -Wl,--wrap=__libc_start_main)
    endif()
  endif()
endfunction()
