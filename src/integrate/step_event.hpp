// One line of the event log: "bounce", "impact", "gap rate -1 -> 0.5 m/s, ...".
#pragma once

#include <string>

namespace clatter {

struct StepEvent {
  std::string element, what, detail;
  std::string text() const {
    return element + (what.empty() ? "" : ": " + what) + (detail.empty() ? "" : " (" + detail + ")");
  }
};

}  // namespace clatter
