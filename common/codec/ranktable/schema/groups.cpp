// Dialects with groups: the cloud's and the lab's templates, configmap1980, and the global tables
// of ModelArts and MindIE.
#include <array>

#include "common/codec/ranktable/schema/lists.hpp"

namespace chipweave::codec::ranktable {
namespace {

// The template's instances are what other dialects call servers.
constexpr std::array kInstanceDevice = {
    digits_member("device_id", &Device::device_id, "RT030", Need::required),
    text_member("device_ip", &Device::device_ip),
    digits_member("rank_id", &Device::rank_id, "RT020"),
    digits_member("super_device_id", &Device::super_device_id, "RT062"),
    kept_text<Device>("tor_ip"),
    kept_text<Device>("tor_port"),
};
constexpr std::array kInstance = {
    text_member("pod_name", &Server::pod_name),
    digits_member("rank_id", &Server::rank_id, "RT020"),
    text_member("server_id", &Server::server_id, Need::required),
    devices_member("devices", Need::required),
};
constexpr std::array kTemplateGroup = {
    text_member("group_name", &Group::id),
    digits_member("instance_count", &Group::count, "RT011"),
    digits_member("device_count", &Group::device_count, "RT011"),
    kept_text<Group>("device_num"),
    kept_text<Group>("server_num"),
    plain_list<Group, &Group::servers, &Schema::server>("instance_list"),
    kept_member<Group>("server_list"),
};
constexpr std::array kTemplateTable = {
    text_member("status", &RankTable::status, Need::required),
    kept_text<RankTable>("board_id"),
    kept_text<RankTable>("chip_info"),
    kept_text<RankTable>("deploy_mode"),
    kept_text<RankTable>("para_plane_nic_location"),
    kept_member<RankTable>("para_plane_nic_name"),
    kept_text<RankTable>("para_plane_nic_num"),
    digits_member("group_count", &RankTable::count, "RT011"),
    plain_list<RankTable, &RankTable::groups, &Schema::group>("group_list"),
};
constexpr std::array k1980Device = {
    digits_member("device_id", &Device::device_id, "RT030", Need::required),
    digits_member("super_device_id", &Device::super_device_id, "RT062"),
    text_member("device_ip", &Device::device_ip),
    digits_member("rank_id", &Device::rank_id, "RT020", Need::required),
    kept_text<Device>("tor_ip"),
    kept_text<Device>("tor_port"),
};
constexpr std::array k1980Table = {
    text_member("status", &RankTable::status, Need::required),
    text_member("version", &RankTable::version, Need::required),
    kept_member<RankTable>("data_version"),
    digits_member("server_count", &RankTable::count, "RT011"),
    only_group("server_list", Need::required),
    optional_list<RankTable, &RankTable::super_pods, &Schema::super_pod>("super_pod_list"),
};
constexpr std::array k1980Server = {
    text_member("pod_name", &Server::pod_name),
    text_member("server_id", &Server::server_id, Need::required),
    text_member("host_ip", &Server::host_ip),
    devices_member("device", Need::required),
};
constexpr std::array kGlobalGroup = {
    text_member("group_id", &Group::id, Need::required),
    digits_member("server_count", &Group::count, "RT011", Need::required),
    plain_list<Group, &Group::servers, &Schema::server>("server_list"),
};
constexpr std::array kGlobalTable = {
    text_member("version", &RankTable::version, Need::required),
    text_member("status", &RankTable::status, Need::required),
    plain_list<RankTable, &RankTable::groups, &Schema::group>("server_group_list"),
};
constexpr std::array kMindieDevice = {
    digits_member("device_id", &Device::device_id, "RT030", Need::required),
    text_member("device_ip", &Device::device_ip, Need::required),
    digits_member("device_logical_id", &Device::logical_id, "RT030", Need::required),
    digits_member("rank_id", &Device::rank_id, "RT020", Need::required),
    digits_member("super_device_id", &Device::super_device_id, "RT062"),
};
constexpr std::array kMindieServer = {
    text_member("server_id", &Server::server_id, Need::required),
    text_member("server_ip", &Server::server_ip, Need::required),
    devices_member("device", Need::optional),
    kept_text<Server>("hardware_type"),
    kept_text<Server>("deploy_server"),
    kept_text<Server>("predict_port"),
    kept_text<Server>("mgmt_port"),
    kept_text<Server>("metric_port"),
    kept_text<Server>("inter_comm_port"),
};
constexpr std::array kMindieGroup = {
    text_member("group_id", &Group::id, Need::required),
    digits_member("server_count", &Group::count, "RT011"),
    text_member("deploy_server", &Group::deploy_server),
    plain_list<Group, &Group::servers, &Schema::server>("server_list"),
    optional_list<Group, &Group::super_pods, &Schema::super_pod>("super_pod_list"),
};
}  // namespace

const Schema kTemplate{.table = kTemplateTable,
                       .group = kTemplateGroup,
                       .server = kInstance,
                       .device = kInstanceDevice};
const Schema kConfigMap1980 = by_servers(k1980Table, k1980Server, k1980Device);
const Schema kModelArtsGlobal{.table = kGlobalTable,
                              .group = kGlobalGroup,
                              .server = kModelArtsServer,
                              .device = kModelArtsDevice};
const Schema kMindieGlobal{.table = kGlobalTable,
                           .group = kMindieGroup,
                           .server = kMindieServer,
                           .device = kMindieDevice,
                           .super_pod = kSuperPod,
                           .server_name = kServerName};

}  // namespace chipweave::codec::ranktable
