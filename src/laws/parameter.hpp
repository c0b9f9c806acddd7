// Parameters of a contact law as data: what the loader reads, the schema and the reference tell, and `clatter info`
// shows. Rows that several laws share are below.
#pragma once

#include <cstdint>

namespace clatter::laws {

struct Parameter {
  enum class Bound : std::uint8_t {
    positive,
    not_negative,
    fraction,          // 0 to 1
    positive_fraction  // above 0, up to 1
  };
  const char* key = "";
  const char* unit = "1";
  const char* text = "";  // a sentence for people, with its default
  double otherwise = 0;   // its value unless given
  Bound bound = Bound::not_negative;
  bool required = false;
  const char* why = "";     // said where it is missing or out of its bounds
  int choice = 0;           // of those of a law with the same number, not 0, exactly one is given
  bool spread = false;      // grows with the length or area of a beam that a point of contact stands for
  bool of_power = false;    // the stiffness of a power law: in N/m^exponent, or Hertz's, from `young`
  bool in_language = true;  // false: only the program gives it
};

inline constexpr Parameter linear_stiffness{.key = "stiffness",
                                            .unit = "N/m",
                                            .text = "Force for each unit of penetration; required.",
                                            .bound = Parameter::Bound::positive,
                                            .required = true,
                                            .spread = true};

inline constexpr Parameter linear_damping{.key = "damping",
                                          .unit = "N*s/m",
                                          .text = "Force for each unit of the penetration's rate; 0 unless given.",
                                          .spread = true};

inline constexpr Parameter power_stiffness{
    .key = "stiffness",
    .unit = "N/m^1.5",
    .text = "Force for each unit of penetration to the power `exponent`; required unless `young` is given.",
    .bound = Parameter::Bound::positive,
    .required = true,
    .spread = true,
    .of_power = true};

inline constexpr Parameter power_exponent{.key = "exponent",
                                          .text = "Power of the penetration; 1.5 (Hertz) unless given.",
                                          .otherwise = 1.5,
                                          .bound = Parameter::Bound::positive};

}  // namespace clatter::laws
