// The CDI file of a prepared claim: what the container runtime adds to a container for each of its
// devices. Pure.
//
// Source: github.com/cncf-tags/container-device-interface, SPEC.md, version 0.6.0. A runtime merges
// the edits of all devices that a container gets; of a variable that several set, one value stays.
#pragma once

#include <string>

#include "common/codec/kube/dra/prepared_claims.hpp"

namespace chipweave::agent::dra {

// "gpu.chipweave.dev/claim=UID-gpu-3": what the kubelet hands to the runtime.
std::string cdi_name(const std::string& driver, const std::string& uid, const std::string& device);
// The file's name, without its folder; and whether a name is that of such a file of the driver,
// also of one that was not renamed.
std::string cdi_file_name(const std::string& driver, const std::string& uid);
bool is_cdi_file_of(const std::string& driver, const std::string& name);

std::string write_cdi_spec(const std::string& driver, const codec::PreparedClaim& claim);

}  // namespace chipweave::agent::dra
