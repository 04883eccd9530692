# find_package(larder-sdk) gives two targets: larder::sdk, the headers of the plugin interface, and larder::fake, the fake
# host for tests of plugins.
get_filename_component(_larder_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET larder::sdk)
  add_library(larder::sdk INTERFACE IMPORTED)
  set_target_properties(larder::sdk PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_larder_prefix}/include")
  add_library(larder::fake SHARED IMPORTED)
  set_target_properties(larder::fake PROPERTIES
    IMPORTED_LOCATION "${_larder_prefix}/lib/libLarderFakeHost.so"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_LINK_LIBRARIES larder::sdk)
endif()
unset(_larder_prefix)
