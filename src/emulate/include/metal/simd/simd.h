// All of it is in one header here.
#pragma once
#include "../metal_device.h"
