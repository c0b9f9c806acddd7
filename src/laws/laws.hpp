// The list of contact laws: the one place where a law is registered. Loader, schema, reference, `clatter info`, the
// contacts and the conformance suites go by it.
#pragma once

#include <bit>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

#include "laws/law_value.hpp"

#include "laws/clipped.hpp"
#include "laws/damped.hpp"
#include "laws/elastic.hpp"
#include "laws/flores.hpp"
#include "laws/hertz.hpp"
#include "laws/hunt_crossley.hpp"
#include "laws/lankarani_nikravesh.hpp"
#include "laws/relaxing.hpp"

namespace clatter::laws {

using Laws = std::tuple<Elastic, Damped, Clipped, Relaxing, Hertz, HuntCrossley, LankaraniNikravesh, Flores>;
inline constexpr std::size_t law_count = std::tuple_size_v<Laws>;

template <class Law>
inline constexpr std::size_t parameter_count = std::size(Law::parameters);

// Parameters as an array in the order of their rows, which is that of the members.
template <class Law>
using Parameters = std::array<double, parameter_count<Law>>;

template <class Law>
Law law_of(const LawValue& v) {
  static_assert(sizeof(Law) == sizeof(Parameters<Law>) && parameter_count<Law> <= most_parameters);
  Parameters<Law> p;
  for (std::size_t i = 0; i < p.size(); ++i) p[i] = v.parameter[i];
  return std::bit_cast<Law>(p);
}

template <class Law, std::size_t I = 0>
constexpr std::uint8_t kind_of() {
  if constexpr (std::is_same_v<Law, std::tuple_element_t<I, Laws>>)
    return I;
  else
    return kind_of<Law, I + 1>();
}

template <class Law>
LawValue value_of(const Law& law) {
  LawValue v{kind_of<Law>(), {}};
  const auto p = std::bit_cast<Parameters<Law>>(law);
  for (std::size_t i = 0; i < p.size(); ++i) v.parameter[i] = p[i];
  return v;
}

// f(law) for the law that a value holds: compares numbers and is inlined, no call through a pointer.
template <std::size_t I = 0, class F>
decltype(auto) visit(const LawValue& v, F&& f) {
  using Law = std::tuple_element_t<I, Laws>;
  if constexpr (I + 1 == law_count) {
    return f(law_of<Law>(v));
  } else {
    if (v.kind == I) return f(law_of<Law>(v));
    return visit<I + 1>(v, std::forward<F>(f));
  }
}

}  // namespace clatter::laws
