// ContactCounts: what happened to the contacts of a run, counted contact by contact.
//
// Time stepping sees no moments, only steps: there an impact is a step in which the contact collided, and the others
// are changes of state from one step to the next, apart from steps with a collision.
#pragma once

#include "integrate/archive.hpp"

namespace clatter::contact {

struct ContactCounts {
  long impacts = 0, closes = 0, opens = 0, sticks = 0, slides = 0;

  void exchange(Archive& archive) {
    for (long* n : {&impacts, &closes, &opens, &sticks, &slides}) archive.count(*n);
  }
};

}  // namespace clatter::contact
