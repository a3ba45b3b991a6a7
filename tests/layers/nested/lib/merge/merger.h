#include "base/error.h"
#include "merge/facts/survey.h"
#include "merge/rows/tracks.h"
#include "merge/lost.h"
