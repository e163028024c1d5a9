#include "tests/fakes/dcmi/scenario.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace chipweave::fake_dcmi {
namespace {

std::string loaded_text;
Json loaded;
std::atomic<dcmi::OnEvent*> subscriber = nullptr;

// False without a readable scenario.
bool load() {
  const char* path = std::getenv("CHIPWEAVE_FAKE_DCMI");
  if (path == nullptr) return false;
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (text != loaded_text) {
    loaded = Json::parse(text, nullptr, false);
    loaded_text = std::move(text);
  }
  return loaded.is_object();
}

dcmi::Code disturbed(const Json& facts, const char* function) {
  if (facts.value("crash", "") == function) std::abort();
  const Json hangs = facts.value("hang", Json::object());
  if (const auto it = hangs.find(function); it != hangs.end()) ::sleep(it->get<unsigned>());
  const Json errors = facts.value("errors", Json::object());
  for (const char* key : {function, "*"}) {
    if (const auto it = errors.find(key); it != errors.end()) return it->get<dcmi::Code>();
  }
  return dcmi::kSuccess;
}

const Json& cards() {
  static const Json none = Json::array();
  const auto it = loaded.find("cards");
  return it == loaded.end() ? none : *it;
}

const Json* card_of(int card) {
  for (const Json& one : cards()) {
    if (one.at("card") == card) return &one;
  }
  return nullptr;
}

template <class T>
void copy_list(const Json& facts, const char* key, T* to, std::size_t most) {
  const auto it = facts.find(key);
  if (it == facts.end()) return;
  for (std::size_t i = 0; i < std::min(most, it->size()); ++i) to[i] = (*it)[i].get<T>();
}

// Like a driver that checks the given size.
template <class T>
dcmi::Code give(const T& answer, void* buffer, unsigned* size) {
  if (*size < sizeof answer) return dcmi::kInvalidParameter;
  std::memcpy(buffer, &answer, sizeof answer);
  *size = sizeof answer;
  return dcmi::kSuccess;
}

dcmi::Code fill_counters(const Json& device, void* buffer, unsigned* size) {
  dcmi::HccsCounters counters{};
  copy_list(device, "sent", counters.sent, dcmi::kMaxPcs);
  copy_list(device, "crc", counters.crc_errors, dcmi::kMaxPcs);
  copy_list(device, "retry", counters.retries, dcmi::kMaxPcs);
  return give(counters, buffer, size);
}

}  // namespace

const Json& scenario() { return loaded; }

dcmi::Code subscribe(dcmi::OnEvent* on_event) {
  if (on_event == nullptr) return dcmi::kInvalidParameter;
  dcmi::OnEvent* none = nullptr;
  return subscriber.compare_exchange_strong(none, on_event) ? dcmi::kSuccess : dcmi::kOccupied;
}

dcmi::Code enter(const char* function) {
  return load() ? disturbed(loaded, function) : dcmi::kNotReady;
}

dcmi::Code enter_card(const char* function, int card, const Json*& of) {
  if (const dcmi::Code code = enter(function)) return code;
  of = card_of(card);
  return of == nullptr ? dcmi::kInvalidId : disturbed(*of, function);
}

dcmi::Code enter(const char* function, int card, int number, const Json*& device) {
  if (const dcmi::Code code = enter(function)) return code;
  const Json* of = card_of(card);
  if (of == nullptr || number < 0 || static_cast<std::size_t>(number) >= (*of)["devices"].size()) {
    return dcmi::kInvalidId;
  }
  device = &(*of)["devices"][static_cast<std::size_t>(number)];
  return disturbed(*device, function);
}

dcmi::Code enter(const char* function, int place, const Json*& device) {
  if (const dcmi::Code code = enter(function)) return code;
  int passed = 0;
  for (const Json& card : cards()) {
    const int here = static_cast<int>(card["devices"].size());
    if (place >= passed && place < passed + here) {
      device = &card["devices"][static_cast<std::size_t>(place - passed)];
      return disturbed(*device, function);
    }
    passed += here;
  }
  return dcmi::kInvalidId;
}

int place_of(int card, int number) {
  int passed = 0;
  for (const Json& one : cards()) {
    const int here = static_cast<int>(one["devices"].size());
    if (one.at("card") == card) return number >= 0 && number < here ? passed + number : -1;
    passed += here;
  }
  return -1;
}

std::size_t device_count() {
  std::size_t count = 0;
  for (const Json& card : cards()) count += card["devices"].size();
  return count;
}

void copy_text(const std::string& text, char* to, std::size_t size) {
  std::memcpy(to, text.data(), std::min(text.size(), size));
  if (text.size() < size) to[text.size()] = '\0';
}

dcmi::Code fill_errors(const Json& device, int* count, unsigned* codes, unsigned length) {
  if (!device.contains("codes")) return dcmi::kNotSupported;
  copy_list(device, "codes", codes, length);
  *count = device.value("code_count", static_cast<int>(device["codes"].size()));
  return dcmi::kSuccess;
}

dcmi::Code fill_chip(const Json& device, dcmi::ChipInfo* info) {
  if (!device.contains("chip")) return dcmi::kNotSupported;
  const Json& chip = device["chip"];
  copy_text(chip.at(0), info->chip_type, sizeof info->chip_type);
  copy_text(chip.at(1), info->chip_name, sizeof info->chip_name);
  copy_text(chip.at(2), info->chip_version, sizeof info->chip_version);
  info->ai_cores = chip.at(3).get<unsigned>();
  copy_text(chip.at(4), info->npu_name, sizeof info->npu_name);
  return dcmi::kSuccess;
}

dcmi::Code fill_board(const Json& device, dcmi::BoardInfo* info) {
  return number(device, "board", &info->board) ? dcmi::kSuccess : dcmi::kNotSupported;
}

dcmi::Code fill_info(const Json& device, int command, unsigned sub, void* buffer, unsigned* size) {
  if (command == dcmi::kChipInfo && sub == dcmi::kChipInfoSuperPod && device.contains("spod")) {
    dcmi::SuperPodInfo info{};
    std::uint32_t* const to[] = {&info.sdid,         &info.size,    &info.id,
                                 &info.server_index, &info.chassis, &info.type};
    for (std::size_t i = 0; i < 6; ++i) *to[i] = device["spod"].at(i).get<std::uint32_t>();
    return give(info, buffer, size);
  }
  if (command == dcmi::kHccs && sub == dcmi::kHccsStatus && device.contains("hccs")) {
    dcmi::HccsStatus status{};
    status.pcs = device["hccs"].at(0).get<std::uint32_t>();
    status.hdlc = device["hccs"].at(1).get<std::uint32_t>();
    return give(status, buffer, size);
  }
  if (command == dcmi::kHccs && sub == dcmi::kHccsCounters && device.contains("sent")) {
    return fill_counters(device, buffer, size);
  }
  return dcmi::kNotSupported;
}

dcmi::Code fill_topo(int place, int other, int* type) {
  if (!number(loaded, "topo", type)) return dcmi::kNotSupported;
  for (const Json& pair : loaded.value("pairs", Json::array())) {
    if (pair.at("a") == std::min(place, other) && pair.at("b") == std::max(place, other)) {
      *type = pair.at("type").get<int>();
    }
  }
  return dcmi::kSuccess;
}

}  // namespace chipweave::fake_dcmi

// Calls the subscriber on the calling thread. False: there is none.
CHIPWEAVE_FAKE_DCMI_API bool fake_dcmi_raise(chipweave::agent::dcmi::Event* event) {
  auto* const on_event = chipweave::fake_dcmi::subscriber.load();
  if (on_event != nullptr) on_event(event);
  return on_event != nullptr;
}
