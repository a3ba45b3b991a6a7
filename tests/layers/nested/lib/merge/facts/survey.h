#include "base/error.h"
#include "merge/rows/tracks.h"
#include "merge/merger.h"
