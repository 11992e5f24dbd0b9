/* A module from another version of the program. */
extern const unsigned stepcost_backend[4];
__attribute__((visibility("default"))) const unsigned stepcost_backend[4] = {99, 0, 0, 0};
