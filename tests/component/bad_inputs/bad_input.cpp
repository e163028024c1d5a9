#include "tests/component/bad_inputs/bad_input.hpp"

#include <ostream>

namespace chipweave {

void PrintTo(const BadInput& row, std::ostream* out) { *out << row.arguments; }

const std::map<std::string, std::string>& common_files() {
  static const std::map<std::string, std::string> files = {
      {"net.csv", "name,rack\nn1,r1\nn2,r1\nn3,r2\n"},
      {"pod.yaml",
       "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"},
      {"table.json",
       R"({"version":"1.0","server_count":"2","status":"completed","server_list":[)"
       R"({"server_id":"a","device":[{"device_id":"0","device_ip":"10.1.0.1","rank_id":"0"}]},)"
       R"({"server_id":"b","device":[{"device_id":"0","device_ip":"10.1.0.2","rank_id":"1"}]}]})"},
      {"gang.json", R"({"pods":2,"chips_per_pod":2})"},
      {"hosts", "n1\nn2\n"},
      {"empty", ""},
      {"binary", std::string("\0\x01\x02\xff\xfe", 5) + std::string(200, '\0')},
      {"deep.json", std::string(100000, '[')},
      {"list.json", "[1,2,3]"},
      {"number.json", "42"},
      {"cut.json", R"({"a": [1, 2)"},
      {"words.txt", "hello world\nthis is text\n"},
  };
  return files;
}

}  // namespace chipweave
