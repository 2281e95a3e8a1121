# Warnings, hardening, sanitizers and launchers that every target shares.
include(CheckCXXCompilerFlag)

# What makes a mistake in our code harder to use for others: in the program, which runs as root and reads
# what others wrote, and in the agent, which runs in their processes. tests/binary holds the files to it.
add_library(utlz_hardening INTERFACE)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
             -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "UTLZ_HAS${flag}" has_flag)
  # Only for this machine's kind of processor: the last two are of one each.
  set(CMAKE_REQUIRED_FLAGS -Werror)
  check_cxx_compiler_flag(${flag} ${has_flag})
  unset(CMAKE_REQUIRED_FLAGS)
  if(${has_flag})
    target_compile_options(utlz_hardening INTERFACE ${flag})
  endif()
endforeach()
# Without optimization it checks nothing, and sanitizers check the same calls better.
if(UTLZ_SANITIZER STREQUAL "" AND NOT UTLZ_BUILD_FUZZERS)
  target_compile_options(utlz_hardening INTERFACE
    $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE$<SEMICOLON>-D_FORTIFY_SOURCE=2>)
endif()
# A build's files do not name the folder that it was made in, debug information included.
set(UTLZ_FOLDER_NOT_NAMED -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
target_compile_options(utlz_hardening INTERFACE ${UTLZ_FOLDER_NOT_NAMED})
# For files that users get.
set(UTLZ_HARDENED_LINK -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

add_library(utlz_compiler INTERFACE)
target_link_libraries(utlz_compiler INTERFACE utlz_hardening)
target_compile_options(utlz_compiler INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Wno-unused-parameter)
target_include_directories(utlz_compiler INTERFACE ${CMAKE_SOURCE_DIR})

if(UTLZ_SANITIZER STREQUAL "address")
  set(UTLZ_SANITIZER_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # CUPTI's and the driver's functions are called by declarations of our own, which clang's UBSan
    # compares with the definitions of the stand-ins. The other three take a sixth of the compiler's
    # time; GCC's build (`asan`) has them.
    list(APPEND UTLZ_SANITIZER_FLAGS -fno-sanitize=function,null,object-size,vptr)
  endif()
elseif(UTLZ_SANITIZER STREQUAL "thread")
  set(UTLZ_SANITIZER_FLAGS -fsanitize=thread -fno-omit-frame-pointer)
elseif(NOT UTLZ_SANITIZER STREQUAL "")
  message(FATAL_ERROR "UTLZ_SANITIZER must be address, thread or empty, not '${UTLZ_SANITIZER}'")
endif()
# Fuzzers see what their inputs reach: the libraries that they test count it too. Comparisons help one
# that runs for hours.
option(UTLZ_FUZZ_COMPARISONS "Fuzzers also see what their inputs are compared with; all tests become slower" OFF)
if(UTLZ_BUILD_FUZZERS)
  set(UTLZ_COVERAGE inline-8bit-counters,pc-table)
  if(UTLZ_FUZZ_COMPARISONS)
    string(APPEND UTLZ_COVERAGE ,trace-cmp)
  endif()
  list(APPEND UTLZ_SANITIZER_FLAGS -fsanitize-coverage=${UTLZ_COVERAGE})
endif()
# A sanitized library refuses to load into a plain host, so the injected library itself is linked
# without these; tests link its code, or load the copy that has them.
target_compile_options(utlz_compiler INTERFACE ${UTLZ_SANITIZER_FLAGS})
target_link_options(utlz_compiler INTERFACE ${UTLZ_SANITIZER_FLAGS})

# What the injected library's sources are compiled with: no sanitizer, no exceptions, no RTTI.
add_library(utlz_compiler_inject INTERFACE)
target_link_libraries(utlz_compiler_inject INTERFACE utlz_hardening)
target_compile_options(utlz_compiler_inject INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wno-unused-parameter
  -fno-exceptions -fno-rtti -fvisibility=hidden -fvisibility-inlines-hidden
  -ffunction-sections -fdata-sections -fno-threadsafe-statics)
target_include_directories(utlz_compiler_inject INTERFACE ${CMAKE_SOURCE_DIR})

find_program(UTLZ_CCACHE ccache)
if(UTLZ_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${UTLZ_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${UTLZ_CCACHE})
endif()
