#include "common/codec/kube/objects/token_review.hpp"

#include "common/base/json_writer.hpp"
#include "common/codec/json/stream_reader.hpp"

namespace chipweave::codec {
namespace {

using namespace json_stream;

void read_texts(const char* name, od::value value, std::vector<std::string>& to) {
  to.clear();
  each_element(name, value, [&](od::value one) { read_string(name, one, to.emplace_back()); });
}

void read_user(od::value value, TokenOwner& to) {
  to.user.clear();
  to.groups.clear();
  each_member("status.user", value, [&](std::string_view key, od::value v) {
    if (key == "username") return read_string("status.user.username", v, to.user);
    if (key == "groups") return read_texts("status.user.groups", v, to.groups);
    check(v, 3);
  });
}

bool read_flag(const char* name, od::value value) {
  if (value.type() != od::json_type::boolean) wrong_type(name, "true or false");
  return value.get_bool();
}

bool read_status(od::value value, TokenOwner& to) {
  return each_member("status", value, [&](std::string_view key, od::value v) {
    if (key == "authenticated") {
      to.authenticated = read_flag("status.authenticated", v);
      return;
    }
    if (key == "user") return read_user(v, to);
    if (key == "audiences") return read_texts("status.audiences", v, to.audiences);
    check(v, 2);
  });
}

}  // namespace

std::string write_token_review(std::string_view token, std::string_view audience) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "authentication.k8s.io/v1").field("kind", "TokenReview");
  w.key("spec").begin_object().field("token", token);
  w.key("audiences").begin_array().string(audience).end_array();
  w.end_object().end_object();
  return w.take();
}

Result<TokenOwner> read_token_review(std::string& body) {
  TokenOwner out;
  std::string kind;
  bool has_status = false;
  auto read = read_document(body, [&](std::string_view key, od::value v) {
    if (key == "kind") return read_string("kind", v, kind);
    if (key != "status") return check(v, 1);
    out = {};
    has_status = read_status(v, out);
  });
  if (!read) return std::move(read).error();
  if (kind != "TokenReview" || !has_status)
    return make_error(Errc::invalid_argument, "not a TokenReview with a status");
  return out;
}

}  // namespace chipweave::codec
