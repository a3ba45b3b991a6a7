#include <merge/facts/survey.h>
