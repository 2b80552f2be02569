// Spring coefficients of one branch for one dt and clamp, in double precision.
#pragma once

#include "sway/tree_soa.h"

bool wgi_spring_is_valid(double mass, double stiffness, double damping, double drag);
bool wgi_spring_options_are_valid(const wg_spring_options* options);
