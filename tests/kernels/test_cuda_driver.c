/* Expected toolkits: NVIDIA, CUDA Toolkit 13 release notes, table of toolkit driver versions (Linux). */
#include "kernels/cuda_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void names_the_newest_toolkit_that_a_driver_runs(void **state) {
    static const struct {
        const char *driver, *toolkit;
    } table[] = {
        {"580.65.06", "13.0"}, {"579.99", "12.9"},     {"570.26", "12.8"},    {"565.57.01", "12.6"},
        {"550.54.14", "12.4"}, {"535.104.05", "12.2"}, {"525.60.13", "12.0"}, {"999.1", "13.0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_string_equal(cuda_driver_toolkit(table[i].driver), table[i].toolkit);
}

static void has_no_toolkit_for_old_drivers_and_for_what_is_no_version(void **state) {
    static const char *const table[] = {"470.57.02", "524.99", "", "driver", "580"};
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_null(cuda_driver_toolkit(table[i]));
}

static void says_what_is_missing_and_the_command(void **state) {
    static const struct {
        const char *driver, *says[3];
    } table[] = {
        {"", {"no driver is loaded", "nvidia-driver", "--cpu"}},
        {"470.57.02", {"470.57.02", "525 or newer", "--cpu"}},
        {"535.104.05", {"up to 12.2", "cuda-toolkit-12-2", "--cpu"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct err e = {0};
        assert_int_equal(cuda_driver_explain(table[i].driver, 8, &e), -1);
        assert_int_equal(err_exit_status(e.code), 3);
        assert_non_null(strstr(e.text, "8 NVIDIA devices"));
        for (size_t k = 0; k < 3; k++)
            assert_non_null(strstr(e.text, table[i].says[k]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_newest_toolkit_that_a_driver_runs),
        cmocka_unit_test(has_no_toolkit_for_old_drivers_and_for_what_is_no_version),
        cmocka_unit_test(says_what_is_missing_and_the_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
