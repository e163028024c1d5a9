if(CHIPWEAVE_GRPC AND TARGET chipweave_agent_fakes)
  add_executable(chipweave-fill-nodes ${CMAKE_CURRENT_LIST_DIR}/fill_nodes.cpp)
  target_link_libraries(chipweave-fill-nodes PRIVATE chipweave_options chipweave_rpc chipweave_io chipweave_profiles chipweave_agent_app chipweave_agent_fakes)
endif()
