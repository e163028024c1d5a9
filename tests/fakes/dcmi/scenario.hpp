// Scenario — what the fake driver library returns: a JSON file named by CHIPWEAVE_FAKE_DCMI, read
// again when its text has changed.
//
// {"driver": "24.1.rc3", "card_count": 8, "errors": {"dcmi_get_card_list": -8255},
//  "crash": "dcmi_x", "hang": {"dcmi_x": seconds}, "topo": 3, "pairs": [{"a": 0, "b": 1, "type":
//  6}], "cards": [{"card": 0, "device_id_max": 1, "mcu": 1, "cpu": -1, "devices": [
//     {"logic": 0, "physical": 0, "chip": ["Ascend", "910B3", "V1", 20, "910B3"], "health": 0,
//      "network": 0, "codes": [2162165249], "texts": {"80e01801": "…"}, "ip": [10, 0, 0, 1],
//      "spod": [sdid, size, id, server, chassis, type], "hccs": [pcs, hdlc], "crc": [0, 7],
//      "retry": [0, 9], "sent": [0, 1], "cpus": "0-23", "board": 40, "errors": {"*": -8008}}]}]}
// A subscription is kept; a test delivers an event with fake_dcmi_raise(), on a thread of its own.
// "pairs" names devices by their position over all cards, which is also how the flat family numbers
// them. A function whose value the scenario omits returns "not supported".
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "node-agent/probes/ascend/dcmi/dcmi_abi.hpp"

#define CHIPWEAVE_FAKE_DCMI_API extern "C" __attribute__((visibility("default")))

namespace chipweave::fake_dcmi {

namespace dcmi = agent::dcmi;
using Json = nlohmann::json;

// The effect of a call before it answers: it hangs, crashes, or fails. Success: continue.
dcmi::Code enter(const char* function);
const Json& scenario();

// Finds a card and sets `of`. A card may have "errors" of its own.
dcmi::Code enter_card(const char* function, int card, const Json*& of);
// Finds a device by card and number, or by its position, and sets `device`.
dcmi::Code enter(const char* function, int card, int number, const Json*& device);
dcmi::Code enter(const char* function, int place, const Json*& device);
// The position of a device over all cards; -1 if there is none.
int place_of(int card, int number);
// All devices, by place.
std::size_t device_count();

// Copies a text as a hostile library might: one that is too long fills the buffer without a
// terminator.
void copy_text(const std::string& text, char* to, std::size_t size);

template <class T>
bool number(const Json& of, const char* key, T* to) {
  const auto it = of.find(key);
  if (it == of.end()) return false;
  *to = it->get<T>();
  return true;
}

// As the driver: one subscription in a process, which nothing ends.
dcmi::Code subscribe(dcmi::OnEvent* on_event);

// The answers of both families, from the facts of a device.
dcmi::Code fill_errors(const Json& device, int* count, unsigned* codes, unsigned length);
dcmi::Code fill_chip(const Json& device, dcmi::ChipInfo* info);
dcmi::Code fill_board(const Json& device, dcmi::BoardInfo* info);
dcmi::Code fill_info(const Json& device, int command, unsigned sub, void* buffer, unsigned* size);
dcmi::Code fill_topo(int place, int other, int* type);

}  // namespace chipweave::fake_dcmi
