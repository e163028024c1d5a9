// Dialects with a server_list at the top: HCCL 1.0 and 1.2, MindIE-LLM, LLM-DataDist, MindSpore's
// clusters, configmap1980, ModelArts' local table.
#include <array>

#include "common/codec/ranktable/schema/lists.hpp"

namespace chipweave::codec::ranktable {
namespace {

constexpr std::array kCluster = {
    text_member("cluster_id", &ServerSet::id, Need::required),
    kept_text<ServerSet>("network_type"),
    kept_text<ServerSet>("az_id"),
    kept_text<ServerSet>("region_id"),
    plain_list<ServerSet, &ServerSet::servers, &Schema::server_name>("server_list"),
};

constexpr std::array kDevice = {
    digits_member("device_id", &Device::device_id, "RT030", Need::required),
    text_member("device_ip", &Device::device_ip),
    digits_member("super_device_id", &Device::super_device_id, "RT062"),
    digits_member("device_port", &Device::device_port, "RT050"),
    rare_member("backup_device_ip", &Device::backup_ip),
    digits_member("backup_device_port", &Device::backup_port, "RT050"),
    digits_member("host_port", &Device::host_port, "RT050"),
    digits_member("device_vnic_port", &Device::vnic_port, "RT050"),
    digits_member("rank_id", &Device::rank_id, "RT020", Need::required),
    kept_text<Device>("net_position"),
    kept_text<Device>("net_protocol"),
    kept_text<Device>("dpu_ip"),
    kept_text<Device>("numa_id"),
};
constexpr std::array kServer = {
    text_member("server_id", &Server::server_id, Need::required),
    text_member("host_ip", &Server::host_ip),
    text_member("container_ip", &Server::container_ip),
    text_member("server_ip", &Server::server_ip),
    text_member("pod_ip", &Server::pod_ip),
    devices_member("device", Need::required),
    kept_text<Server>("host_nic_ip"),
    kept_text<Server>("hardware_type"),
};
constexpr std::array kTable10 = {
    text_member("version", &RankTable::version, Need::required),
    digits_member("server_count", &RankTable::count, "RT011"),
    only_group("server_list", Need::required),
    optional_list<RankTable, &RankTable::super_pods, &Schema::super_pod>("super_pod_list"),
    text_member("status", &RankTable::status, Need::required),
};

// As Ascend Operator writes them.
constexpr std::array kOperatorServer = {
    devices_member("device", Need::required),
    kept_text<Server>("hardware_type"),
    text_member("server_id", &Server::server_id, Need::required),
    text_member("host_ip", &Server::host_ip),
    text_member("container_ip", &Server::container_ip),
    text_member("server_ip", &Server::server_ip),
    text_member("pod_ip", &Server::pod_ip),
    kept_text<Server>("host_nic_ip"),
};
constexpr std::array kOperatorTable = {
    text_member("status", &RankTable::status, Need::required),
    only_group("server_list", Need::required),
    digits_member("server_count", &RankTable::count, "RT011"),
    text_member("version", &RankTable::version, Need::required),
    optional_list<RankTable, &RankTable::super_pods, &Schema::super_pod>("super_pod_list"),
};

template <std::size_t N>
constexpr std::array<Member<Server>, N> requiring(std::string_view name,
                                                  std::array<Member<Server>, N> members) {
  for (Member<Server>& member : members) {
    if (member.name == name) member.need = Need::required;
  }
  return members;
}
constexpr std::array kLlmServer = requiring("container_ip", kOperatorServer);

constexpr std::array kDataDistDevice = {
    digits_member("device_id", &Device::device_id, "RT030", Need::required),
    text_member("device_ip", &Device::device_ip),
    digits_member("super_device_id", &Device::super_device_id, "RT062"),
    digits_member("device_port", &Device::device_port, "RT050"),
    kept_text<Device>("net_position"),
    kept_text<Device>("net_protocol"),
};
constexpr std::array kDataDistTable = {
    text_member("version", &RankTable::version, Need::required),
    text_member("status", &RankTable::status),
    only_group("server_list", Need::optional),
    optional_list<RankTable, &RankTable::super_pods, &Schema::super_pod>("super_pod_list"),
};

constexpr std::array kMindSporeTable = {
    text_member("version", &RankTable::version, Need::required),
    digits_member("server_count", &RankTable::count, "RT011"),
    only_group("server_list", Need::required),
    optional_list<RankTable, &RankTable::clusters, &Schema::cluster>("cluster_list"),
    text_member("status", &RankTable::status, Need::required),
};

constexpr std::array kLocalTable = {
    text_member("version", &RankTable::version, Need::required),
    text_member("status", &RankTable::status, Need::required),
    text_member("group_id", &RankTable::group_id, Need::required),
    digits_member("server_count", &RankTable::count, "RT011", Need::required),
    only_group("server_list", Need::required),
};

}  // namespace

const Schema kHccl10 = by_servers(kTable10, kServer, kDevice);
const Schema kHccl12 = by_servers(kOperatorTable, kOperatorServer, kDevice);
const Schema kMindieLlm = by_servers(kOperatorTable, kLlmServer, kDevice);
const Schema kDataDist = by_servers(kDataDistTable, kServer, kDataDistDevice);
const Schema kMindSpore{.table = kMindSporeTable,
                        .server = kServer,
                        .device = kDevice,
                        .super_pod = kSuperPod,
                        .cluster = kCluster,
                        .server_name = kServerName};
const Schema kModelArtsLocal{
    .table = kLocalTable, .server = kModelArtsServer, .device = kModelArtsDevice};

}  // namespace chipweave::codec::ranktable
