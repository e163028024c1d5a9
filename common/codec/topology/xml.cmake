# Importers of XML-like and tree sources; included by common/codec/CMakeLists.txt.
set(CHIPWEAVE_CODEC_XML_SOURCES
  topology/pci.cpp topology/device_models.cpp topology/host_tree.cpp topology/directed_lanes.cpp
  topology/xml_document.cpp topology/nccl_xml.cpp topology/nccl_tree.cpp topology/nccl_xml_export.cpp
  topology/nccl_graph.cpp topology/hwloc_xml.cpp topology/hwloc_tree.cpp topology/hwloc_matrices.cpp
  topology/nvml_mock.cpp topology/kfd.cpp topology/kfd_tree.cpp)
