#include <vector>
#include "scan/cursor.h"
