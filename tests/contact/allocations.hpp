// Allocations of this program so far, counted in memory_test.cpp. The sanitizers bring their own malloc: there it stays
// 0.
#pragma once

namespace clatter::contact {

extern thread_local long allocations;

}  // namespace clatter::contact
