# The library has the API of all releases since 1.5.
set(PACKAGE_VERSION 1.9.4)
set(PACKAGE_VERSION_COMPATIBLE TRUE)
