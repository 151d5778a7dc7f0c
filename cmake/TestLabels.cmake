# What a test needs and costs, for `ctest -L unit`, `ctest -LE 'slow|timing'` and scripts/test.sh:
#   unit     one folder of src/, under a second, nothing but the folder's own library
#   e2e      the built program, or whole conversations with models
#   timing   measures time: runs alone
#   sandbox  starts processes inside the sandbox
#   device   needs OpenCL or Vulkan, on the processor at least
#   slow     seconds to minutes each: every task, every operator, or a search
# A program that is in none of the lists is a unit test.
set(KF_E2E adversarial_test cassettes_test cli_test clock_jump_test error_test export_e2e_test fault_test forge_e2e_test
  forge_interrupt_test forge_modelled_test forge_resume_test honest_soak models_cli_test models_test platform_e2e_test python_package_test run_folder_test smith_forge_test)
set(KF_TIMING adversarial_timed honest_soak machine_test)
set(KF_SANDBOX adversarial_test adversarial_timed build_test emulate_cuda_test export_e2e_test fault_test forge_e2e_test forge_resume_test honest_soak
  execute_test judge_test platform_e2e_test platform_test profile_test python_package_test run_folder_test run_test runner_test sandbox_test)
set(KF_DEVICE smith_device_test)
set(KF_SLOW adversarial_timed emulate_checks_test emulate_cuda_test emulate_metal_test emulate_model_test emulate_smith_test forge_e2e_test forge_modelled_test honest_soak house_test onednn_test onnx_conformance platform_e2e_test run_folder_test
  smith_device_test smith_forge_test smith_operators_test smith_property_test smith_suite_test smith_threads_test
  suites_test)

# The labels of a program, or of a list of tests, as a list in `out`.
function(kforge_labels name timed out)
  set(labels "")
  foreach(label E2E TIMING SANDBOX DEVICE SLOW)
    if(name IN_LIST KF_${label})
      string(TOLOWER ${label} word)
      list(APPEND labels ${word})
    endif()
  endforeach()
  if(timed)
    list(APPEND labels timing)
  endif()
  if(NOT name IN_LIST KF_E2E AND NOT name IN_LIST KF_SLOW AND NOT name IN_LIST KF_DEVICE)
    list(PREPEND labels unit)
  endif()
  list(REMOVE_DUPLICATES labels)
  set(${out} ${labels} PARENT_SCOPE)
endfunction()

# Labels for the tests found in a program. gtest_discover_tests cannot hand over a property that is a list, so CTest
# reads it from a file of its own after it has found them.
function(kforge_label_tests test_list name timed)
  kforge_labels(${name} "${timed}" labels)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${test_list}_labels.cmake)
  file(WRITE ${file} "foreach(test IN LISTS ${test_list})\n  set_tests_properties(\"\${test}\" PROPERTIES LABELS \"${labels}\")\nendforeach()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()
