# The header "version.hpp": version, commit, build. Written at configure time, and again before a build whose commit
# changed.
set(version_header ${CMAKE_BINARY_DIR}/generated/version.hpp)
set(write_version
    ${CMAKE_COMMAND} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR} -DOUTPUT=${version_header}
    -DFLASHBENCH_VERSION=${PROJECT_VERSION}
    "-DFLASHBENCH_BUILD=${CMAKE_BUILD_TYPE}, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/write_version.cmake)
execute_process(COMMAND ${write_version} COMMAND_ERROR_IS_FATAL ANY)
add_custom_target(
  flashbench-version
  COMMAND ${write_version}
  BYPRODUCTS ${version_header}
  COMMENT "Writing version.hpp"
  VERBATIM)

foreach(library flashbench_record flashbench_front flashbench_worker flashbench_judge_core)
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_include_directories(${library} INTERFACE ${CMAKE_BINARY_DIR}/generated)
  else()
    target_include_directories(${library} PUBLIC ${CMAKE_BINARY_DIR}/generated)
    add_dependencies(${library} flashbench-version)
  endif()
endforeach()
foreach(program ${FLASHBENCH_PROGRAMS})
  target_include_directories(${program} PRIVATE ${CMAKE_BINARY_DIR}/generated)
  add_dependencies(${program} flashbench-version)
endforeach()
