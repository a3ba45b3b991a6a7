#include "merge/options.h"
#include "merge/summary.h"

#include <vector>
