// TokenReview of authentication.k8s.io/v1: asks the API server who a bearer token belongs to, and
// reads its answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

inline constexpr std::string_view kTokenReviewPath = "/apis/authentication.k8s.io/v1/tokenreviews";

struct TokenOwner {
  bool authenticated = false;
  std::string user;
  std::vector<std::string> groups;
  // The requested audiences that the token is valid for. Empty although some were requested: the
  // authenticator does not support audiences, and the token is valid for the API server only.
  std::vector<std::string> audiences;
};

std::string write_token_review(std::string_view token, std::string_view audience);
// The answer's status. invalid_argument: not a TokenReview, or one without a status.
Result<TokenOwner> read_token_review(std::string& body);

}  // namespace chipweave::codec
