#include "cursor.h"

#include "common/options.h"

#include <scan/cursor.h>
#include <tools/common/options.h>
