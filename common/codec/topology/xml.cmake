# Importers of XML-like and tree sources; included by common/codec/CMakeLists.txt.
set(CHIPWEAVE_CODEC_XML_SOURCES
  topology/hardware/pci.cpp topology/hardware/device_models.cpp topology/hardware/host_tree.cpp
  topology/hardware/directed_lanes.cpp topology/xml/xml_document.cpp topology/xml/nccl_xml.cpp topology/xml/nccl_tree.cpp
  topology/xml/nccl_xml_export.cpp topology/xml/nccl_graph.cpp topology/xml/hwloc_xml.cpp topology/xml/hwloc_tree.cpp
  topology/kfd/kfd.cpp topology/kfd/kfd_tree.cpp)
