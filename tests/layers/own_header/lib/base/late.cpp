#include <string>

#include "base/late.h"
