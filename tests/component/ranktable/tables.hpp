// Rank tables in a folder, for chipweave ranktable.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/component/programs/run.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {

class RankTables : public testing::Test {
 protected:
  // Four servers of two devices, ranks in the order a, b, c, d.
  static std::string table(const std::string& first_rank = "0") {
    std::string servers;
    int rank = 0;
    for (const char* name : {"a", "b", "c", "d"}) {
      servers += std::string(rank == 0 ? "" : ",\n") + "  {\"server_id\": \"" + name +
                 "\", \"note\": [1, {\"x\": null}], \"device\": [";
      for (int device = 0; device < 2; ++device) {
        const std::string id = rank == 0 ? first_rank : std::to_string(rank);
        servers += std::string(device == 0 ? "" : ", ") + "{\"device_id\": \"" +
                   std::to_string(device) + "\", \"device_ip\": \"10.1." + std::to_string(device) +
                   "." + std::to_string(rank / 2 + 1) + "\", \"rank_id\": \"" + id + "\"}";
        ++rank;
      }
      servers += "]}";
    }
    return "{\"version\": \"1.0\", \"server_count\": \"4\", \"server_list\": [\n" + servers +
           "\n], \"status\": \"completed\"}\n";
  }

  struct Ran {
    int exit_code;
    std::string out, err;
  };
  Ran ranktable(const std::string& arguments) const {
    const Outcome outcome =
        run("%B/chipweave ranktable " + arguments + " </dev/null 2>" + folder_.at("stderr"));
    return {outcome.code, outcome.text, content("stderr")};
  }
  std::string content(const std::string& name) const {
    std::ifstream in(folder_.at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const io::TempFolder folder_;
  const std::string file_ = folder_.put("hccl.json", table());
  // a and c on one leaf, b and d on another.
  const std::string network_ = folder_.put("network.csv", "name,leaf\na,s1\nb,s2\nc,s1\nd,s2\n");
};

}  // namespace chipweave
