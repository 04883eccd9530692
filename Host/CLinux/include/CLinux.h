#include "children.h"
#include "files.h"
#include "memory.h"
#include "names.h"
