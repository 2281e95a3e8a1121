# The licences of what the program brings with it (docs/decisions/0006-static-dependencies.md), as
# the distribution's packages state them. Those of the report page's libraries are in the page.
set(third_party_file ${CMAKE_BINARY_DIR}/THIRD_PARTY_LICENSES)
set(third_party_text "What the programs of this folder contain of others, and its licences.\n")
foreach(package IN ITEMS libabsl-dev libcli11-dev libeigen3-dev libncurses-dev libprotobuf-dev
                         libxxhash-dev libzstd-dev zlib1g-dev)
  set(statement /usr/share/doc/${package}/copyright)
  if(EXISTS ${statement})
    file(READ ${statement} text)
    string(APPEND third_party_text "\n==== ${package} ====\n\n${text}")
  else()
    message(WARNING "${statement} is missing: a package made here would lack that licence")
  endif()
endforeach()
file(WRITE ${third_party_file} "${third_party_text}")
install(FILES ${third_party_file} DESTINATION share/doc/utlz)
