/* Asserts the layout whenever the package is built. */
#include "larder/layout.h"
