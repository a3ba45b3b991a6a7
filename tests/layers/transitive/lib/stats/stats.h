#include "base/error.h"
#include <scan/cursor.h>
