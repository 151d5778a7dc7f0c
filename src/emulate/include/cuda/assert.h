// A failed assertion of device code stops the launch, and names its line.
#pragma once

#include "kforge/device_api.h"

#undef assert
#define assert(condition) ((condition) ? (void)0 : kfe_trap("assert(" #condition ")", __FILE__, __LINE__))
