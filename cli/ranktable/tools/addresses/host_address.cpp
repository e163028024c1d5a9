#include "cli/ranktable/tools/addresses/host_address.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>

#include "cli/ranktable/tools/words.hpp"
#include "common/base/foreign_text.hpp"

namespace chipweave::cli {
namespace {

// What the system knows under `name`: IPv4 first, as Python's gethostbyname.
std::string resolved(const std::string& name) {
  for (const int family : {AF_INET, AF_INET6}) {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) continue;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(list->ai_addr, list->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      return text.data();
    }
  }
  return "";
}

Result<std::string> address_of_this_host(const std::string& option) {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  std::string address = resolved(name.data());
  if (parse_ip(address)) return address;
  return make_error(Errc::not_found, "the host name " + in_quotes(name.data()) +
                                         " resolves to no address: give " + option + " ADDRESS");
}

}  // namespace

Result<std::string> host_address(const std::string& given, const std::string& option,
                                 const Warn& warn) {
  Result<std::string> address =
      given.empty() ? address_of_this_host(option) : Result<std::string>(given);
  if (!address) return address;
  const auto ip = parse_ip(*address);
  if (!ip) {
    return make_error(Errc::invalid_argument,
                      "argument " + option + ": " + in_quotes(*address) + " is no address");
  }
  if (ip->is_loopback()) {
    warn("the address of this machine is " + *address + ", which no other machine reaches: give " +
         option + " ADDRESS");
  }
  return address;
}

}  // namespace chipweave::cli
