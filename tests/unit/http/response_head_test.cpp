#include "common/http/response_head.hpp"

#include <gtest/gtest.h>

namespace chipweave::http {
namespace {

TEST(ErrorResponse, EscapesItsMessage) {
  const Response response = error_response(413, "too_large", "the header \"a\\b\" is too long");
  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.body,
            R"({"error":{"code":"too_large","message":"the header \"a\\b\" is too long"}})"
            "\n");
}

}  // namespace
}  // namespace chipweave::http
