// CUDA has all of it in one.
#pragma once

#include "cuda_runtime.h"
