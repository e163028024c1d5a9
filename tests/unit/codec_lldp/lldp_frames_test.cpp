#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/lldp/lldp.hpp"
#include "tests/unit/codec_lldp/made_frame.hpp"

namespace chipweave::codec {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The one neighbour of a file with one frame; the port "none" if it was left out.
LldpNeighbour only(const std::string& frame) {
  const auto got = parse_lldp_frames(file_of({frame}));
  EXPECT_TRUE(got) << got.error().text();
  return got && got->size() == 1 ? got->front() : LldpNeighbour{"", "", "none", ""};
}

TEST(LldpFrames, GiveSystemPortAndAddress) {
  const auto got = parse_lldp_frames(file_of({made_frame("leaf1", "400GE1/1/20:2", "10.1.2.3"),
                                              made_frame("leaf2", "e1", "2001:db8::1")}));
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_THAT(*got, SizeIs(2));
  EXPECT_EQ((*got)[0].interface, "");
  EXPECT_EQ((*got)[0].system, "leaf1");
  EXPECT_EQ((*got)[0].port, "400GE1/1/20:2");
  EXPECT_EQ((*got)[0].address, "10.1.2.3");
  EXPECT_EQ((*got)[1].address, "2001:db8::1");
}

TEST(LldpFrames, AnEmptyFileHasNone) { EXPECT_THAT(*parse_lldp_frames(""), IsEmpty()); }

TEST(LldpFrames, AHardwareAddressGivesWayToADescription) {
  const std::string mac = tlv(2, std::string("\x03\xaa\xbb\xcc\x00\x00\x01", 7));
  const std::string head = ethernet() + chassis() + mac + time_to_live();
  EXPECT_EQ(only(head + end_mark()).port, "aa:bb:cc:00:00:01");
  EXPECT_EQ(only(head + tlv(4, "Ethernet7") + end_mark()).port, "Ethernet7");
  EXPECT_EQ(only(ethernet() + chassis() + tlv(2, "\x05swp1") + time_to_live() + tlv(4, "to host") +
                 end_mark())
                .port,
            "swp1");
  EXPECT_EQ(only(ethernet() + chassis() + tlv(2, std::string("\x04\x01\x0a\x00\x00\x07", 6)) +
                 time_to_live() + end_mark())
                .port,
            "10.0.0.7");
}

TEST(LldpFrames, WhatLacksAnElementOrItsEndIsLeftOut) {
  const std::string port = tlv(2, "\x05swp1");
  EXPECT_EQ(only(ethernet() + chassis() + port + time_to_live() + end_mark()).port, "swp1");
  EXPECT_EQ(only(ethernet() + chassis() + port + time_to_live()).port, "none");
  EXPECT_EQ(only(ethernet() + chassis() + port + end_mark()).port, "none");
  EXPECT_EQ(only(ethernet() + chassis() + time_to_live() + end_mark()).port, "none");
  EXPECT_EQ(only(ethernet() + port + time_to_live() + end_mark()).port, "none");
  std::string other = ethernet();
  other[13] = '\x00';  // not LLDP
  EXPECT_EQ(only(other + chassis() + port + time_to_live() + end_mark()).port, "none");
  EXPECT_EQ(only("short").port, "none");
}

TEST(LldpFrames, AnElementLongerThanTheFrameEndsIt) {
  const std::string cut = std::string("\x0b\xff", 2) + "leaf";  // system name of 511 bytes
  EXPECT_EQ(only(ethernet() + chassis() + tlv(2, "\x05swp1") + time_to_live() + cut).port, "none");
}

TEST(LldpFrames, PaddingBehindTheEndIsNoMatter) {
  EXPECT_EQ(only(made_frame("leaf1", "p", "10.0.0.1") + std::string(20, '\0')).system, "leaf1");
}

TEST(LldpFrames, AddressesOfOtherFamiliesAndLengthsAreNone) {
  const std::string head = ethernet() + chassis() + tlv(2, "\x05p") + time_to_live();
  EXPECT_EQ(
      only(head + tlv(8, std::string("\x07\x06\x00\x11\x22\x33\x44\x55", 8)) + end_mark()).address,
      "");
  EXPECT_EQ(only(head + tlv(8, std::string("\x05\x01\x0a\x00", 4)) + end_mark()).address, "");
  EXPECT_EQ(only(head + tlv(8, "") + end_mark()).address, "");
  EXPECT_EQ(
      only(head + tlv(8, std::string("\x00\x00", 2)) + management("10.0.0.5") + end_mark()).address,
      "10.0.0.5");
}

TEST(LldpFrames, NamesArePrintable) {
  const auto one =
      only(made_frame(std::string("le\naf\x80\xff\0", 8), std::string("p\x1b[2J"), "10.0.0.1"));
  EXPECT_EQ(one.system, "le?af??");
  EXPECT_EQ(one.port, "p?[2J");
  EXPECT_EQ(only(made_frame(std::string(400, 'x'), "p", "10.0.0.1")).system, std::string(256, 'x'));
}

TEST(LldpFrames, LengthsThatDoNotFitAreAnError) {
  const std::string good = file_of({made_frame("leaf1", "p", "10.0.0.1")});
  EXPECT_FALSE(parse_lldp_frames(good.substr(0, good.size() - 1)));
  EXPECT_FALSE(parse_lldp_frames(good + "1234567"));
  const auto huge = parse_lldp_frames(std::string(8, '\xff') + std::string(100, ' '));
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, Errc::invalid_argument);
  EXPECT_THAT(huge.error().message, HasSubstr("100 are left"));
  EXPECT_FALSE(parse_lldp_frames(file_of({std::string(4096, 'x')})));
  EXPECT_EQ(parse_lldp_frames(std::string(kMaxLldpBytes + 1, '\0')).error().code,
            Errc::limit_exceeded);
}

TEST(LldpFrames, NoMoreNeighboursThanTheLimit) {
  const std::vector<std::string> many(300, made_frame("leaf1", "p", "10.0.0.1"));
  EXPECT_THAT(*parse_lldp_frames(file_of(many)), SizeIs(kMaxLldpNeighbours));
}

}  // namespace
}  // namespace chipweave::codec
