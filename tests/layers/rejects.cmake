execute_process(COMMAND ${python} -B ${script} --root ${tree}
  OUTPUT_VARIABLE found RESULT_VARIABLE status)
file(READ ${tree}/expected.txt expected)
if(NOT status EQUAL 1 OR NOT found STREQUAL expected)
  message(FATAL_ERROR "exit ${status}, expected 1 and\n${expected}but found\n${found}")
endif()
