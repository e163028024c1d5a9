// ExtenderReply — writes the replies to kube-scheduler for thousands of nodes in one pass over the
// evaluation. Names are copied as the request had them, so that nothing is escaped or looked up.
//
// At 5,000 nodes a document tree would cost several times the decision; this costs some 4 ns a
// node. Scratch space stays from call to call. Owner: the loop thread.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/kube/requests/extender.hpp"
#include "scheduler-plugin/app/evaluation.hpp"

namespace chipweave::sched {

// The Node objects of a request that fit, as they were sent. They point into the request.
class FittingNodes {
 public:
  FittingNodes(const Evaluation& evaluation, const codec::ExtenderArgs& args);
  // Appends the next one, after a comma but for the first; false: there is none.
  bool append_next(std::string& out);

 private:
  std::vector<std::string_view> items_;
  std::size_t next_ = 0;
};

class ExtenderReply {
 public:
  // ExtenderFilterResult: names, or Node objects where the request had them.
  std::string filter(const Evaluation& evaluation, const codec::ExtenderArgs& args);
  // The same in three parts, where the request had Node objects: this, what FittingNodes writes,
  // and after_nodes().
  static constexpr std::string_view kBeforeNodes = R"({"Nodes":{"metadata":{},"items":[)";
  std::string after_nodes(const Evaluation& evaluation, const codec::ExtenderArgs& args);
  // HostPriorityList.
  std::string prioritize(const Evaluation& evaluation, const codec::ExtenderArgs& args);

 private:
  // What follows a name, in a list. Short texts are copied as one block.
  struct Tail {
    Tail(std::string t, std::size_t in_list);
    static constexpr std::size_t kBlock = 32;
    std::array<char, kBlock> block{};
    std::size_t size;
    std::size_t list;
    std::string text;
  };
  // Buffer of one list; its size is known in advance.
  struct Sheet {
    void clear(std::size_t most);
    std::string_view text() const { return {space.data(), used}; }
    std::vector<char> space;
    std::size_t used = 0;
  };
  static char* put(char* to, std::string_view name, const Tail& tail);
  void fill_sheets(const Evaluation& evaluation, const codec::ExtenderArgs& args);
  std::size_t lists_bytes() const;
  void append_lists(std::string& out) const;

  std::array<Sheet, 3> sheets_;
};

}  // namespace chipweave::sched
