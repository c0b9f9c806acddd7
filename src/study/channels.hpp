// Names of quantities in a result file. A quantity `rod.tip.position` is kept under the group of what it belongs to:
//
//   bodies/rod/position    frames/rod.tip/position    joints/pin/angle    forces/spring/length
//   energy/total           system/momentum
//
// so that a result can be browsed like a folder. Without its group, and with dots for slashes, a channel has the
// quantity's name again; commands accept both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/model.hpp"
#include "record/reader.hpp"

namespace clatter::study {

std::string channel_of_quantity(const Model& model, std::string_view quantity);
std::string quantity_of_channel(std::string_view channel);

// The channels whose name, or whose quantity's name, matches one of the globs, in recorded order. Throws InputError
// with the nearest name for a glob that matches nothing.
std::vector<std::string> matching_channels(const record::Reader& reader, const std::vector<std::string>& globs);

}  // namespace clatter::study
