# What faults cost until they are known, and the agent meanwhile; on the rig of its tests.
add_executable(bench_agent_faults ${CMAKE_CURRENT_LIST_DIR}/agent_faults.cpp)
target_link_libraries(bench_agent_faults PRIVATE chipweave_agent_rig CLI11::CLI11)
