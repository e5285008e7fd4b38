#include "stiction/app/experiments/published.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace stiction::experiments {

double Printed::value() const { return std::strtod(std::string(text).c_str(), nullptr); }

double Printed::last_digit() const {
  const std::size_t end = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = text.find('.');
  const int exponent = end < text.size() ? std::atoi(std::string(text.substr(end + 1)).c_str()) : 0;
  const int decimals = point < end ? static_cast<int>(end - point - 1) : 0;
  return std::pow(10.0, exponent - decimals);
}

}  // namespace stiction::experiments
