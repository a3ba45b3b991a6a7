#include "scan/cursor.h"

#include <vector>
