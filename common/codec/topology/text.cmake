# Sources of the JSON and text importers, relative to common/codec.
set(CHIPWEAVE_CODEC_TEXT_SOURCES
  near_names.cpp
  topology/json_reader.cpp
  topology/topology_json.cpp
  topology/topology_json_export.cpp)
