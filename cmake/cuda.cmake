# The CUDA kernels, where an nvcc of 12.4 or newer is found; everything else builds without it.
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "No nvcc: building without the CUDA kernels")
  return()
endif()
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --version OUTPUT_VARIABLE nvcc_text ERROR_QUIET)
string(REGEX MATCH "release ([0-9]+\\.[0-9]+)" nvcc_match "${nvcc_text}")
if(NOT nvcc_match OR CMAKE_MATCH_1 VERSION_LESS 12.4)
  message(STATUS "${CMAKE_CUDA_COMPILER} is CUDA '${CMAKE_MATCH_1}', the CUDA kernels need 12.4 or newer: building without them")
  unset(CMAKE_CUDA_COMPILER CACHE)
  unset(CMAKE_CUDA_COMPILER)
  return()
endif()

if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real 80-virtual)
endif()
enable_language(CUDA)
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # Debian 12's CMake 3.25.1 does not know it for nvcc
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
find_package(CUDAToolkit 12.4 REQUIRED)
set(FLASHBENCH_CUDA ON)

add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(FLASHBENCH_WERROR)
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings>")
endif()

# The ladder explains and is not raced: one architecture, the newest that is built for.
file(GLOB ladder_sources CONFIGURE_DEPENDS kernels/ladder/*.cu)
add_library(flashbench_ladder_cuda STATIC ${ladder_sources})
target_include_directories(flashbench_ladder_cuda PUBLIC include ${CMAKE_CURRENT_SOURCE_DIR})
set(architectures ${CMAKE_CUDA_ARCHITECTURES})
list(FILTER architectures EXCLUDE REGEX "-virtual$")
list(SORT architectures COMPARE NATURAL ORDER DESCENDING)
if("${architectures}" MATCHES "^([0-9]+)([0-9])([af]?)(-real)?(;|$)")
  set(first_sm ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
  set(last_sm ${CMAKE_MATCH_1}9) # a cubin runs on later GPUs of its generation ...
  if(CMAKE_MATCH_3) # ... unless it uses what only this one has
    set(last_sm ${first_sm})
  endif()
  set_target_properties(flashbench_ladder_cuda PROPERTIES CUDA_ARCHITECTURES ${first_sm}${CMAKE_MATCH_3}-real)
else() # "native", "all": whatever the rest is built for
  set(first_sm 80)
  set(last_sm 999)
endif()

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS kernels/*.cu kernels/*_cuda.cpp)
list(REMOVE_ITEM cuda_sources ${ladder_sources})
set_source_files_properties(kernels/ladder/implementation_cuda.cpp PROPERTIES COMPILE_DEFINITIONS
                            "FLASHBENCH_LADDER_FIRST_SM=${first_sm};FLASHBENCH_LADDER_LAST_SM=${last_sm}")
add_library(flashbench_kernels_cuda STATIC ${cuda_sources})
target_include_directories(flashbench_kernels_cuda PUBLIC include ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(flashbench_kernels_cuda PUBLIC flashbench_ladder_cuda CUDA::cudart_static ${CMAKE_DL_LIBS})

# The worker and the judge on a GPU.
file(GLOB worker_sources CONFIGURE_DEPENDS src/worker/*.cu src/worker/backend_cuda.cpp)
add_library(flashbench_worker_cuda STATIC ${worker_sources})
target_compile_options(flashbench_worker_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
target_link_libraries(flashbench_worker_cuda PUBLIC flashbench_worker CUDA::cudart_static)
add_library(flashbench_judge_cuda STATIC src/judge/reference_cuda.cu src/judge/draws_cuda.cu src/judge/gradients_cuda.cu
                                         src/judge/device_inputs_cuda.cpp src/judge/gpu_reference_cuda.cpp)
target_link_libraries(flashbench_judge_cuda PUBLIC flashbench_judge_core CUDA::cudart_static)
flashbench_program(flashbench-worker-cuda src/worker/main_cuda.cpp flashbench_worker_cuda
                   flashbench_kernels_cuda)
flashbench_shared_library(worker-cuda-library SHARED src/worker/main_library_cuda.cpp LINK flashbench_worker_cuda)
set_target_properties(worker-cuda-library PROPERTIES OUTPUT_NAME flashbench-worker-cuda)
flashbench_shared_library(flashbench-builtin-cuda MODULE plugins/builtin/builtin.cpp LINK flashbench_kernels_cuda)
flashbench_shared_library(flashbench-faults-cuda MODULE ${faults} plugins/faults/host_access_cuda.cpp
                          LINK flashbench_kernels_cuda CUDA::cudart_static)
flashbench_shared_library(flashbench-example-cuda MODULE plugins/example/attention.cu LINK CUDA::cudart_static)
flashbench_program(flashbench-judge-cuda src/judge/main_cuda.cpp flashbench_judge_cuda)

if(FLASHBENCH_TESTS)
  foreach(program forward_check launch_check forward_bench backward_check backward_bench)
    add_executable(${program} tests/kernels/${program}.cpp)
    target_include_directories(${program} PRIVATE tests)
    target_link_libraries(${program} PRIVATE flashbench_kernels_cuda flashbench_judge_cuda)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  endforeach()
  enable_testing()
  foreach(program forward_check launch_check backward_check)
    add_test(NAME kernels/${program} COMMAND ${program})
    set_tests_properties(kernels/${program} PROPERTIES LABELS gpu SKIP_RETURN_CODE 77 TIMEOUT 600)
  endforeach()
  find_package(Python3 COMPONENTS Interpreter QUIET)
  foreach(architecture sm_80 sm_90a) # the ladder is built for the newer one alone
    string(REPLACE sm_ "" number ${architecture})
    if(Python3_FOUND AND "${CMAKE_CUDA_ARCHITECTURES}" MATCHES "${number}-real")
      add_test(NAME kernels/${architecture}_resources
               COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tests/kernels/resources.py
                       $<TARGET_FILE:flashbench-worker-cuda> ${architecture})
      set_tests_properties(kernels/${architecture}_resources PROPERTIES LABELS kernels SKIP_RETURN_CODE 77)
    endif()
  endforeach()
endif()
