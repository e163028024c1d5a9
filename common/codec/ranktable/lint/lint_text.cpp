#include "common/codec/ranktable/lint/lint_text.hpp"

#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/lint.hpp"

namespace chipweave::codec::ranktable {

namespace {

JsonTree::Id node_of(const JsonTree& tree, const Place& place) {
  if (place.object.node == Source::kNone || place.object.node >= tree.size()) return tree.root();
  if (place.member.empty()) return place.object.node;
  const JsonTree::Id member = tree.member(place.object.node, place.member);
  return member == JsonTree::kNone ? place.object.node : member;
}

// Pointers of nodes in ascending order: each search continues at the previous node, so that all of
// them together cost one pass over the tree.
class PointerWalk {
 public:
  explicit PointerWalk(const JsonTree& tree) : tree_(tree) {}

  std::string to(JsonTree::Id id) {
    while (!steps_.empty() && !holds(steps_.back().container, id)) steps_.pop_back();
    JsonTree::Id at = steps_.empty() ? tree_.root() : steps_.back().container;
    std::string out = prefix();
    while (at != id) {
      if (steps_.empty() || steps_.back().container != at) {
        steps_.push_back({at, tree_.first(at), 0});
      }
      Step& step = steps_.back();
      while (!holds(step.child, id)) {
        step.child = tree_.next(at, step.child);
        ++step.index;
      }
      out += '/' + name_of(step);
      at = step.child;
    }
    return out;
  }

 private:
  struct Step {
    JsonTree::Id container;
    JsonTree::Id child;
    std::size_t index;
  };
  bool holds(JsonTree::Id container, JsonTree::Id id) const {
    return container <= id && tree_.offset(id) < tree_.end_offset(container);
  }
  std::string name_of(const Step& step) const {
    if (tree_.is(step.container, JsonTree::Kind::array)) return std::to_string(step.index);
    return JsonTree::escaped_step(tree_.name(step.child));
  }
  // The steps above the last container, whose children are not all visited yet.
  std::string prefix() const {
    std::string out;
    for (std::size_t i = 0; i + 1 < steps_.size(); ++i) out += '/' + name_of(steps_[i]);
    return out;
  }

  const JsonTree& tree_;
  std::vector<Step> steps_;
};

struct Sorted {
  JsonTree::Id node;
  const Finding* finding;
};

std::vector<Located> located(const JsonTree& tree, const Findings& findings) {
  std::vector<Sorted> sorted;
  sorted.reserve(findings.size());
  for (const Finding& finding : findings)
    sorted.push_back({node_of(tree, finding.place), &finding});
  std::stable_sort(sorted.begin(), sorted.end(), [](const Sorted& a, const Sorted& b) {
    return std::pair(a.node, a.finding->code) < std::pair(b.node, b.finding->code);
  });
  const LineIndex lines(sorted.empty() ? std::string_view() : std::string_view(tree.document()));
  PointerWalk pointers(tree);
  std::vector<Located> out;
  out.reserve(sorted.size());
  for (const auto& [node, finding] : sorted) {
    Located each;
    each.code = finding->code;
    each.severity = finding->severity;
    each.pointer = pointers.to(node);
    each.position = lines.at(tree.offset(node));
    if (finding->related) each.related = lines.at(tree.offset(node_of(tree, *finding->related)));
    each.fact = finding->message;
    each.node = node;
    if (node != finding->place.object.node) each.owner = finding->place.object.node;
    out.push_back(std::move(each));
  }
  return out;
}

LintedText only_finding(std::string_view code, TextPosition position, std::string fact) {
  LintedText out;
  Located& finding = out.findings.emplace_back();
  finding.code = code;
  finding.position = position;
  finding.fact = std::move(fact);
  return out;
}

LintedText linted_tree(JsonTree tree, JsonTree::Id root, const LintOptions& options) {
  LintedText out;
  ReadTable read = read_table(tree, root, options.dialect);
  out.dialect = read.dialect;
  Findings findings = std::move(read.findings);
  if (out.dialect) {
    Findings more = domain::ranktable::lint(read.table, options.profile);
    findings.insert(findings.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
    out.table = std::move(read.table);
  }
  out.findings = located(tree, findings);
  out.tree = std::move(tree);
  out.root = root;
  return out;
}

// A table in a string: findings get the position of the string in the file.
LintedText lint_inner(const JsonTree& outer, JsonTree::Id string, const LintOptions& options) {
  const TextPosition at = LineIndex(outer.document()).at(outer.offset(string));
  LintOptions inner = options;
  inner.pointer.clear();
  LintedText out = lint_text(std::string(outer.text(string)), inner);
  for (Located& each : out.findings) {
    each.fact += concat(" (line ", each.position.line, " of this text)");
    each.position = at;
    each.related.reset();
    each.pointer = options.pointer + each.pointer;
  }
  return out;
}

}  // namespace

std::string counted(std::size_t count, const char* what) {
  return concat(count, " ", what, (count == 1 ? "" : "s"));
}

std::string Located::message() const {
  const domain::ranktable::Rule& rule = domain::ranktable::rule_of(code);
  std::string out = fact;
  for (const std::string_view more : {rule.breaks, rule.remedy}) {
    if (more.empty()) continue;
    out += out.ends_with('.') || out.ends_with('?') ? " " : ". ";
    out += more;
  }
  return out;
}

LintedText lint_text(std::string text, const LintOptions& options) {
  auto parsed = JsonTree::parse(std::move(text));
  if (auto* mistake = std::get_if<JsonSyntaxError>(&parsed)) {
    return only_finding("RT001", mistake->position, mistake->message);
  }
  auto& tree = std::get<JsonTree>(parsed);
  const JsonTree::Id root = tree.at(options.pointer);
  if (root == JsonTree::kNone) {
    return only_finding("RT002", {}, "the file has no value at " + options.pointer);
  }
  if (!options.pointer.empty() && tree.is(root, JsonTree::Kind::string)) {
    return lint_inner(tree, root, options);
  }
  return linted_tree(std::move(tree), root, options);
}

void add_findings(LintedText& linted, const Findings& findings) {
  if (!linted.tree) return;
  std::vector<Located> more = located(*linted.tree, findings);
  linted.findings.insert(linted.findings.end(), std::make_move_iterator(more.begin()),
                         std::make_move_iterator(more.end()));
  std::stable_sort(linted.findings.begin(), linted.findings.end(),
                   [](const Located& a, const Located& b) {
                     return std::pair(a.position.line, a.position.column) <
                            std::pair(b.position.line, b.position.column);
                   });
}

}  // namespace chipweave::codec::ranktable
