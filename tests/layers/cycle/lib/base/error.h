#include "scan/cursor.h"
