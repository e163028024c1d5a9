// The model of an accelerator by its PCI vendor and device ids.
#pragma once

#include <cstdint>
#include <string>

namespace chipweave::agent {

// "" for an id that is not known.
std::string pci_model(std::uint32_t vendor, std::uint32_t device);

}  // namespace chipweave::agent
