// What a run tells at its end, as text: counts, speed, energy ledger, constraints, contacts, checks.
#pragma once

#include <string>
#include <vector>

#include "study/summary.hpp"

namespace clatter::app {

std::string summary_text(const study::Summary& summary);
std::string ledger_text(const study::Ledger& ledger);

// "2 contacts, 5 points: 3 impacts, 1 closes" and how well the laws were met; empty without contacts.
std::string contact_text(const study::ContactSummary& contacts);

// The table `clatter run` and `clatter verify` print: quantity, published, computed, difference, tolerance, ok, source.
std::string checks_table(const std::vector<study::CheckResult>& results, int indent = 2);

}  // namespace clatter::app
