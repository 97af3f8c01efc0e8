# Run by `cmake -P` before every build: writes version.hpp, and touches it only when something in it changed.
# In: SOURCE, OUTPUT, FLASHBENCH_VERSION, FLASHBENCH_BUILD.
set(FLASHBENCH_COMMIT "unknown")
find_program(GIT git)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(
    COMMAND ${GIT} -c safe.directory=* describe --always --dirty --abbrev=12
    WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE described
    RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed AND described)
    set(FLASHBENCH_COMMIT ${described})
  endif()
endif()
configure_file(${SOURCE}/src/cli/version.hpp.in ${OUTPUT} @ONLY)
