// What a PCI vendor and device id say about the model of an accelerator.
#pragma once

#include <cstdint>
#include <string>

namespace chipweave::agent {

// "" for an id that is not known for sure.
std::string pci_model(std::uint32_t vendor, std::uint32_t device);

}  // namespace chipweave::agent
