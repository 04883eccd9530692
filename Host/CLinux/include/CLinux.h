#include "children.h"
#include "files.h"
