#include <base/error.h>
#include "merge/merger.h"
