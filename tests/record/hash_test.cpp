#include "record/hash.hpp"

#include <gtest/gtest.h>

namespace clatter::record {
namespace {

// FIPS 180-4 example vectors (NIST CSRC, SHA-256 one-block, two-block and one million 'a').
TEST(ContentHash, AgreesWithThePublishedVectorsOfSha256) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(ContentHash, OfAModelDependsOnTextsAndTheirBordersButNotOnPaths) {
  const std::vector<SourceFile> model{{"a.yaml", "one"}, {"b.yaml", "two"}};
  const std::vector<SourceFile> moved{{"x/a.yaml", "one"}, {"x/b.yaml", "two"}};
  const std::vector<SourceFile> shifted{{"a.yaml", "on"}, {"b.yaml", "etwo"}};
  EXPECT_EQ(model_hash(model), model_hash(moved));
  EXPECT_NE(model_hash(model), model_hash(shifted));
}

}  // namespace
}  // namespace clatter::record
