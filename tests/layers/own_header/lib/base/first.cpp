// A comment.
#include "base/first.h"

#include <string>
