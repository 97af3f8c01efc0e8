// Judged claims to text: a line each.
#pragma once

#include <string>
#include <vector>

#include "claims/claims.hpp"

namespace flashbench {

std::string render_claims(const Report&, const std::vector<JudgedClaim>&, bool color);
std::string render_claims_markdown(const Report&, const std::vector<JudgedClaim>&);
// The report's JSON (flashbench.report/1) with a list "claims": readers of reports leave it alone.
std::string claims_text(const Report&, const std::vector<JudgedClaim>&);

}  // namespace flashbench
