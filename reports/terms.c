#include "reports/terms.h"

#include "base/text.h"

static struct price as_quoted(const struct offer *offer) {
    return offer->price;
}

static const struct term_row rows[TERM_COUNT] = {
    [TERM_ON_DEMAND] = {"on-demand", false, "billed while it runs; can be stopped at any time", as_quoted},
    [TERM_SPOT] = {"spot", true, "the price moves, and the provider can take the node back", as_quoted},
};

const struct term_row *term_row(enum term t) {
    return &rows[t];
}

const char *term_name(enum term t) {
    return rows[t].name;
}

int term_parse(const char *name, enum term *out, struct err *e) {
    struct text known = {0};

    for (int t = 0; t < TERM_COUNT; t++) {
        if (text_equal_nocase(name, rows[t].name)) {
            *out = (enum term)t;
            text_free(&known);
            return 0;
        }
        text_printf(&known, "%s\"%s\"", t > 0 ? " or " : "", rows[t].name);
    }
    err_set(e, ERR_PARSE, "\"%.40s\" is no price term; write %s", name, text_get(&known));
    text_free(&known);
    return -1;
}

struct price term_node_hour(const struct offer *offer) {
    return rows[offer->term].node_hour(offer);
}
