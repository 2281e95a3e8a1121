# Warnings, sanitizers and launchers that every target shares.
add_library(utlz_compiler INTERFACE)
target_compile_options(utlz_compiler INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Wno-unused-parameter)
target_include_directories(utlz_compiler INTERFACE ${CMAKE_SOURCE_DIR})

if(UTLZ_SANITIZER STREQUAL "address")
  set(UTLZ_SANITIZER_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(UTLZ_SANITIZER STREQUAL "thread")
  set(UTLZ_SANITIZER_FLAGS -fsanitize=thread -fno-omit-frame-pointer)
elseif(NOT UTLZ_SANITIZER STREQUAL "")
  message(FATAL_ERROR "UTLZ_SANITIZER must be address, thread or empty, not '${UTLZ_SANITIZER}'")
endif()
# Fuzzers see what their inputs reach: the libraries that they test are instrumented too.
if(UTLZ_BUILD_FUZZERS)
  list(APPEND UTLZ_SANITIZER_FLAGS -fsanitize=fuzzer-no-link)
endif()
# A sanitized library refuses to load into a plain host, so the injected library itself is linked
# without these; tests link its code, or load the copy that has them.
target_compile_options(utlz_compiler INTERFACE ${UTLZ_SANITIZER_FLAGS})
target_link_options(utlz_compiler INTERFACE ${UTLZ_SANITIZER_FLAGS})

# What the injected library's sources are compiled with: no sanitizer, no exceptions, no RTTI.
add_library(utlz_compiler_inject INTERFACE)
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
