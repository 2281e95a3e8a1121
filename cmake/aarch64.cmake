# Cross-compiles for aarch64 with Debian's g++-aarch64-linux-gnu. UTLZ_SYSROOT is a folder with the
# libraries of that architecture: tools/dev/test_aarch64 makes one.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES UTLZ_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${UTLZ_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR}
    ${UTLZ_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${UTLZ_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${UTLZ_SYSROOT})
# The build machine cannot run the tests to ask for their names.
set(CMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE PRE_TEST)
# gcc 12 takes Eigen's realloc for a use after free there.
set(CMAKE_CXX_FLAGS_INIT -Wno-error=use-after-free)
