// What a pattern matches: the whole, or whole components of it.
#include "plan/glob.hpp"

#include <gtest/gtest.h>

namespace flashbench {
namespace {

const std::string key = "ladder/causal_skip/fwd/b1/h16/kv1/q1024/d128/fp16/causal/built-in";

TEST(Glob, MatchesTheWholeWhateverSlashesItHas) {
  for (const char* pattern : {"*causal*", "ladder/*/built-in", "*", "*/q1024/*", "*d128/fp16*"})
    EXPECT_TRUE(glob_matches_components(pattern, key)) << pattern;
}

TEST(Glob, MatchesWholeComponentsInARow) {
  for (const char* pattern :
       {"causal", "ladder", "fwd", "built-in", "kv1", "h1?", "q*", "b[12]", "ladder/causal_skip",
        "ladder/*", "/q1024/", "fp16/causal", "causal/built-in"})
    EXPECT_TRUE(glob_matches_components(pattern, key)) << pattern;
}

TEST(Glob, MatchesNoPartOfAComponent) {
  for (const char* pattern : {"v1", "1024", "q102", "caus", "adder/*", "h?", "d128/causal",
                              "fp16/c", "skip/fwd", "built-in/x", "", "/", "//", "nosuch"})
    EXPECT_FALSE(glob_matches_components(pattern, key)) << pattern;
}

}  // namespace
}  // namespace flashbench
