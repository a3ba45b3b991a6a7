#include "base/error.h"
#include "merge/facts/survey.h"
#include "rows/tracks.h"
