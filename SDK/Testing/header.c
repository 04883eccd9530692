/* The header by itself, as a plugin's test includes it. The functions are in Host/, in Swift. */
#include "LarderFakeHost.h"
