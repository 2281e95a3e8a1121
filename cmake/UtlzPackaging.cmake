# What is installed and packaged. The layout is relocatable: the program finds the agent and its
# data from its own place (bin/../lib, bin/../share), so a folder can be moved or carried elsewhere.
#
#   bin/utlz, bin/utlz-run and bin/utlz-attach (links to it)
#   lib/libutlz_inject.so
#   lib/utlz/utlz-demo-load   what `utlz demo` profiles
#   share/utlz/demo.utlz      what it shows without a GPU
#   share/doc/utlz/
#   share/man, share/bash-completion, share/zsh, share/fish
#   lib/systemd               units of the collector as a service, for whoever enables one
if(NOT TARGET utlz OR NOT TARGET utlz_inject)
  message(FATAL_ERROR "A build without the program (utlz) or without the agent (utlz_inject) is "
                      "not worth having")
endif()

# The build folder is laid out alike, so that its program finds the same things.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/utlz)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/data/demo.utlz ${CMAKE_BINARY_DIR}/share/utlz/demo.utlz
     SYMBOLIC)
set(link_names utlz-run)
if(EXISTS ${CMAKE_SOURCE_DIR}/tools/utlz/attach_command.cc)
  list(APPEND link_names utlz-attach)
endif()
file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
foreach(name IN LISTS link_names)
  file(CREATE_LINK utlz ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} SYMBOLIC)
  install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} DESTINATION bin)
endforeach()
install(TARGETS utlz RUNTIME DESTINATION bin)
install(TARGETS utlz_inject LIBRARY DESTINATION lib)
install(TARGETS utlz_demo_load RUNTIME DESTINATION lib/utlz)
# Optional, since the recording is made with an installed folder; tests/binary misses it.
install(FILES ${CMAKE_SOURCE_DIR}/data/demo.utlz DESTINATION share/utlz OPTIONAL)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/doc/utlz)
foreach(folder man bash-completion fish zsh)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/${folder} DESTINATION share OPTIONAL)
endforeach()
install(FILES packaging/systemd/utlz-collector.service DESTINATION lib/systemd/system)
install(FILES packaging/systemd/user/utlz-collector.service DESTINATION lib/systemd/user)
include(UtlzThirdParty)
# In a folder of their own, so that the README's links lead there.
install(DIRECTORY docs DESTINATION share/doc/utlz FILES_MATCHING PATTERN "*.md" PATTERN "*.png")

set(CPACK_PACKAGE_NAME utlz)
set(CPACK_PACKAGE_VENDOR "The utlz authors")
set(CPACK_PACKAGE_CONTACT "The utlz authors <utlz@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ DEB)
find_program(UTLZ_RPMBUILD rpmbuild)
if(UTLZ_RPMBUILD)
  list(APPEND CPACK_GENERATOR RPM)
endif()
set(CPACK_PACKAGE_FILE_NAME utlz-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
if(UTLZ_OLDER_GLIBC)
  # dpkg-shlibdeps knows only where Debian's current library has each symbol, not since when.
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${UTLZ_GLIBC_FLOOR})")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
# Other packages' folders.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
  /usr/share/man /usr/share/man/man1 /usr/share/bash-completion
  /usr/share/bash-completion/completions /usr/share/fish /usr/share/fish/vendor_completions.d
  /usr/share/zsh /usr/share/zsh/site-functions)
include(CPack)
