#include "cursor.h"
  #  include <tools/common/options.h>
#include "common/options.h"
#include <scan/cursor.h>

std::vector<FileRank> ranks = assign_ranks(inputs, evidence);
