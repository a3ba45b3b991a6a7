// The recorder of Traceloom, as <traceloom/recorder.h>.
#pragma once

#include "record/recorder.h"
