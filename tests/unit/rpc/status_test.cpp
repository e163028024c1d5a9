#include "common/rpc/status.hpp"

#include <gtest/gtest.h>

namespace chipweave::rpc {
namespace {

struct Row {
  Errc ours;
  grpc::StatusCode theirs;
};

// Each row of the table of status codes.
constexpr Row kRows[] = {
    {Errc::invalid_argument, grpc::StatusCode::INVALID_ARGUMENT},
    {Errc::not_found, grpc::StatusCode::NOT_FOUND},
    {Errc::conflict, grpc::StatusCode::FAILED_PRECONDITION},
    {Errc::unavailable, grpc::StatusCode::UNAVAILABLE},
    {Errc::deadline, grpc::StatusCode::DEADLINE_EXCEEDED},
    {Errc::limit_exceeded, grpc::StatusCode::RESOURCE_EXHAUSTED},
    {Errc::unsupported, grpc::StatusCode::UNIMPLEMENTED},
    {Errc::internal, grpc::StatusCode::INTERNAL},
};

TEST(Status, EveryErrorCodeHasItsStatusAndComesBack) {
  for (const Row& row : kRows) {
    const grpc::Status status = to_status(make_error(row.ours, "why").in("where"));
    EXPECT_EQ(status.error_code(), row.theirs) << to_string(row.ours);
    EXPECT_EQ(status.error_message(), "where: why");
    const Error back = from_status(status);
    EXPECT_EQ(back.code, row.ours);
    EXPECT_EQ(back.message, "where: why");
  }
}

TEST(Status, CodesWithoutOwnErrorBecomeTheNearest) {
  EXPECT_EQ(from_status({grpc::StatusCode::CANCELLED, "x"}).code, Errc::unavailable);
  EXPECT_EQ(from_status({grpc::StatusCode::ABORTED, "x"}).code, Errc::unavailable);
  EXPECT_EQ(from_status({grpc::StatusCode::PERMISSION_DENIED, "x"}).code, Errc::conflict);
  EXPECT_EQ(from_status({grpc::StatusCode::UNAUTHENTICATED, "x"}).code, Errc::conflict);
  EXPECT_EQ(from_status({grpc::StatusCode::DATA_LOSS, "x"}).code, Errc::internal);
  EXPECT_EQ(from_status({grpc::StatusCode::INTERNAL, ""}).message, "the peer gave no reason");
}

TEST(Status, CodesHaveGrpcsNames) {
  EXPECT_EQ(to_string(grpc::StatusCode::OK), "OK");
  EXPECT_EQ(to_string(grpc::StatusCode::RESOURCE_EXHAUSTED), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(to_string(grpc::StatusCode::UNAVAILABLE), "UNAVAILABLE");
  EXPECT_EQ(to_string(grpc::StatusCode::UNAUTHENTICATED), "UNAUTHENTICATED");
  EXPECT_EQ(to_string(grpc::StatusCode::DO_NOT_USE), "UNKNOWN");
}

}  // namespace
}  // namespace chipweave::rpc
