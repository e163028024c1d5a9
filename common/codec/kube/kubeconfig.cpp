#include "common/codec/kube/kubeconfig.hpp"

#include <array>
#include <initializer_list>
#include <utility>

#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/base64.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/yaml/yaml_tree.hpp"

namespace chipweave::codec {
namespace {

Error invalid(std::string message) {
  return make_error(Errc::invalid_argument, std::move(message));
}

// null means absent.
JsonValue member(JsonValue object, std::string_view key) {
  const JsonValue value = object[key];
  return value.is_null() ? JsonValue() : value;
}

// One entry of a list of {name, KIND: {…}}, e.g. clusters.
class Entry {
 public:
  static Result<Entry> find(JsonValue root, const char* list, const char* kind,
                            const std::string& name) {
    const JsonValue entries = member(root, list);
    if (!entries.is_array()) return invalid(std::string(list) + " must be a list");
    for (const JsonValue each : entries) {
      if (!each.is_object()) return invalid(std::string(list) + " must hold objects");
      const JsonValue known = member(each, "name");
      if (!known.is_string() || known.text() != name) continue;
      const JsonValue body = member(each, kind);
      const std::string where = std::string(kind) + " " + quoted_excerpt(name);
      if (!body.is_object()) return invalid(where + " must have an object " + kind);
      return Entry(body, where);
    }
    return invalid(std::string(list) + " has no entry named " + quoted_excerpt(name));
  }

  Result<std::string> text(std::string_view key) const {
    const JsonValue value = member(body_, key);
    if (value && !value.is_string()) return wrong(key, expected("a string", value));
    return std::string(value.text());
  }

  // KEY names a file; KEY-data has the content in base64 and takes precedence.
  Result<PemSource> pem(const std::string& key) const {
    auto data = text(key + "-data");
    if (!data) return std::move(data).error();
    if (!data->empty()) {
      auto decoded = decode_base64(*data);
      if (!decoded) return std::move(decoded).error().in(where_ + ": " + key + "-data");
      return PemSource{std::move(*decoded), {}};
    }
    auto file = text(key);
    if (!file) return std::move(file).error();
    return PemSource{{}, std::move(*file)};
  }

  Result<bool> flag(std::string_view key) const {
    const JsonValue value = member(body_, key);
    if (value && !value.is_boolean()) return wrong(key, expected("true or false", value));
    return value.boolean().value_or(false);
  }

  Result<void> refuse(std::initializer_list<std::pair<const char*, const char*>> keys) const {
    for (const auto& [key, instead] : keys) {
      if (member(body_, key)) {
        return make_error(Errc::unsupported,
                          where_ + ": " + key + " is not supported here; " + instead);
      }
    }
    return {};
  }

  const std::string& where() const { return where_; }

 private:
  Entry(JsonValue body, std::string where) : body_(body), where_(std::move(where)) {}
  Error wrong(std::string_view key, const std::string& why) const {
    return invalid(where_ + ": " + std::string(key) + ": " + why);
  }

  JsonValue body_;
  std::string where_;
};

// Moves the value to `to`; otherwise sets `error` and returns false.
template <class T>
bool take(Result<T> from, T& to, Error& error) {
  if (!from) {
    error = std::move(from).error();
    return false;
  }
  to = std::move(*from);
  return true;
}

Result<void> read_cluster(const Entry& cluster, KubeAccess& to) {
  constexpr const char* kDirect = "give a server that can be reached directly";
  if (auto done = cluster.refuse({{"proxy-url", kDirect}}); !done) return done;
  Error error;
  if (!take(cluster.text("server"), to.server, error) ||
      !take(cluster.text("tls-server-name"), to.tls_server_name, error) ||
      !take(cluster.pem("certificate-authority"), to.ca, error) ||
      !take(cluster.flag("insecure-skip-tls-verify"), to.insecure, error)) {
    return error;
  }
  while (to.server.ends_with('/')) to.server.pop_back();
  if (!to.server.starts_with("https://") && !to.server.starts_with("http://")) {
    return invalid(cluster.where() + ": server must be an https:// URL");
  }
  if (to.insecure && to.ca.given()) {
    return invalid(cluster.where() +
                   ": a certificate authority and insecure-skip-tls-verify cannot be combined");
  }
  return {};
}

Result<void> read_user(const Entry& user, KubeAccess& to) {
  constexpr const char* kToken = "use a token, a token file or a client certificate";
  if (auto done = user.refuse({{"exec", kToken},
                               {"auth-provider", kToken},
                               {"username", kToken},
                               {"password", kToken},
                               {"as", "give that user's own credentials"}});
      !done) {
    return done;
  }
  Error error;
  if (!take(user.text("token"), to.token, error) ||
      !take(user.text("tokenFile"), to.token_file, error) ||
      !take(user.pem("client-certificate"), to.client_certificate, error) ||
      !take(user.pem("client-key"), to.client_key, error)) {
    return error;
  }
  if (!to.token.empty()) to.token_file.clear();
  if (to.client_certificate.given() != to.client_key.given()) {
    return invalid(user.where() +
                   ": a client certificate needs its key, and a key its certificate");
  }
  return {};
}

}  // namespace

Result<KubeAccess> read_kubeconfig(std::string_view yaml, std::string_view context) {
  const auto documents = parse_yaml(yaml);
  if (!documents) return documents.error();
  const JsonValue root = documents->size() == 1 ? JsonValue(documents->front().tree) : JsonValue();
  if (!root.is_object()) {
    return invalid("a kubeconfig is one YAML document with keys such as clusters and users");
  }
  std::string wanted(context);
  if (wanted.empty()) {
    const JsonValue current = member(root, "current-context");
    if (!current.is_string() || current.text().empty()) {
      return invalid("current-context is not set; name a context");
    }
    wanted = current.text();
  }
  auto chosen = Entry::find(root, "contexts", "context", wanted);
  if (!chosen) return std::move(chosen).error();
  std::array<std::string, 2> names;
  KubeAccess access;
  Error error;
  if (!take(chosen->text("cluster"), names[0], error) ||
      !take(chosen->text("user"), names[1], error) ||
      !take(chosen->text("namespace"), access.ns, error)) {
    return error;
  }
  auto cluster = Entry::find(root, "clusters", "cluster", names[0]);
  if (!cluster) return std::move(cluster).error().in(chosen->where());
  if (auto done = read_cluster(*cluster, access); !done) return std::move(done).error();
  if (names[1].empty()) return access;  // anonymous
  auto user = Entry::find(root, "users", "user", names[1]);
  if (!user) return std::move(user).error().in(chosen->where());
  if (auto done = read_user(*user, access); !done) return std::move(done).error();
  return access;
}

}  // namespace chipweave::codec
