#include "bench/group_local.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "bench/message.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the worker's end ---- */

static const char digits[] = "0123456789abcdef";

static json_t *hex_encode(const void *bytes, size_t size) {
    const unsigned char *b = bytes;
    char *text = xmalloc(2 * size + 1);
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[b[i] >> 4];
        text[2 * i + 1] = digits[b[i] & 15];
    }
    json_t *value = json_stringn(text, 2 * size);
    free(text);
    return value;
}

static int hex_digit(char c) {
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static int hex_decode(const json_t *value, void *out, size_t size, struct err *e) {
    const char *text = json_string_value(value);
    if (text == NULL || json_string_length(value) != 2 * size)
        return err_set(e, ERR_PEER, "group: %zu bytes wanted, other sizes sent: ranks disagree", size);
    unsigned char *bytes = out;
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return err_set(e, ERR_PEER, "group: message is no hex text");
        bytes[i] = (unsigned char)(high << 4 | low);
    }
    return 0;
}

/* Says what this rank calls and waits for the answer: a new reference in *reply. */
static int sync_call(struct group *g, const char *call, int root, json_t *data, json_t **reply,
                     struct err *e) {
    struct proc_channel *channel = g->context;
    char *line;
    json_t *m = json_pack("{s:s, s:s, s:i, s:o}", "type", "sync", "call", call, "root", root, "data", data);
    if (message_send(channel, m, e) != 0 || proc_receive(channel, &line, UINT64_MAX, e) < 0)
        return -1;
    *reply = message_parse(line, e);
    if (*reply == NULL)
        return -1;
    const char *broken = json_string_value(json_object_get(*reply, "broken"));
    if (broken == NULL && strcmp(message_type(*reply), "reply") == 0)
        return 0;
    (void)err_set(e, ERR_PEER, "%s", broken != NULL ? broken : "group: no reply from the supervisor");
    json_decref(*reply);
    return -1;
}

static int local_barrier(struct group *g, struct err *e) {
    json_t *reply;
    if (sync_call(g, "barrier", 0, json_string(""), &reply, e) != 0)
        return -1;
    json_decref(reply);
    return 0;
}

static int local_bcast(struct group *g, void *bytes, size_t size, int root, struct err *e) {
    json_t *reply;
    json_t *data = g->rank == root ? hex_encode(bytes, size) : json_string("");
    if (sync_call(g, "bcast", root, data, &reply, e) != 0)
        return -1;
    int result = g->rank == root ? 0 : hex_decode(json_object_get(reply, "data"), bytes, size, e);
    json_decref(reply);
    return result;
}

static int local_gather(struct group *g, const void *bytes, size_t size, void *all, int root, struct err *e) {
    json_t *reply;
    if (sync_call(g, "gather", root, hex_encode(bytes, size), &reply, e) != 0)
        return -1;
    int result = 0;
    if (g->rank == root)
        result = hex_decode(json_object_get(reply, "data"), all, size * (size_t)g->size, e);
    json_decref(reply);
    return result;
}

static void local_abort(struct group *g, const char *reason) {
    struct err e;
    (void)err_set(&e, ERR_PEER, "%s", reason);
    /* When the supervisor is gone, so are the others. */
    (void)!message_send(g->context, message_error("abort", &e), &e);
}

struct group group_local_make(struct proc_channel *channel, int rank, int size) {
    return (struct group){.rank = rank,
                          .size = size,
                          .context = channel,
                          .barrier = local_barrier,
                          .bcast = local_bcast,
                          .gather = local_gather,
                          .abort = local_abort};
}

/* ---- the supervisor's end ---- */

void hub_init(struct hub *h, int size) {
    *h = (struct hub){.size = size, .seats = xcalloc((size_t)size, sizeof *h->seats)};
}

void hub_clear(struct hub *h) {
    for (int i = 0; i < h->size; i++) {
        json_decref(h->seats[i].call);
        h->seats[i].call = NULL;
    }
}

void hub_free(struct hub *h) {
    hub_clear(h);
    free(h->seats);
    *h = (struct hub){0};
}

bool hub_waits(const struct hub *h, int rank) {
    return h->seats[rank].call != NULL;
}

static const char *call_name(const json_t *call) {
    const char *name = json_string_value(json_object_get(call, "call"));
    return name != NULL ? name : "nothing";
}

static long long call_root(const json_t *call) {
    return json_integer_value(json_object_get(call, "root"));
}

static const char *call_data(const json_t *call) {
    const char *data = json_string_value(json_object_get(call, "data"));
    return data != NULL ? data : "";
}

static void hub_break(struct hub *h, const char *reason) {
    if (!h->broken) {
        h->broken = true;
        snprintf(h->reason, sizeof h->reason, "%s", reason);
    }
}

void hub_call(struct hub *h, int rank, const json_t *message) {
    char text[sizeof h->reason];
    for (int i = 0; i < h->size; i++) {
        const json_t *other = h->seats[i].call;
        if (other != NULL &&
            (strcmp(call_name(other), call_name(message)) != 0 || call_root(other) != call_root(message))) {
            snprintf(text, sizeof text, "ranks disagree: rank %d calls %s of %lld, rank %d %s of %lld", i,
                     call_name(other), call_root(other), rank, call_name(message), call_root(message));
            hub_break(h, text);
        }
    }
    if (call_root(message) < 0 || call_root(message) >= h->size)
        hub_break(h, "a rank calls for a root that is not there");
    json_decref(h->seats[rank].call);
    h->seats[rank].call = json_deep_copy(message);
}

void hub_leave(struct hub *h, int rank, const char *reason) {
    char text[sizeof h->reason];
    snprintf(text, sizeof text, "rank %d left: %.200s", rank, reason);
    hub_break(h, text);
    json_decref(h->seats[rank].call);
    h->seats[rank].call = NULL;
}

bool hub_ready(const struct hub *h) {
    int waiting = 0;
    for (int i = 0; i < h->size; i++)
        waiting += hub_waits(h, i);
    return waiting == h->size || (h->broken && waiting > 0);
}

json_t *hub_answer(const struct hub *h, int rank) {
    if (h->broken)
        return json_pack("{s:s, s:s}", "type", "reply", "broken", h->reason);
    const json_t *call = h->seats[rank].call;
    struct text data = {0};
    if (strcmp(call_name(call), "bcast") == 0)
        text_add(&data, call_data(h->seats[call_root(call)].call));
    else if (strcmp(call_name(call), "gather") == 0 && rank == call_root(call))
        for (int i = 0; i < h->size; i++)
            text_add(&data, call_data(h->seats[i].call));
    json_t *reply = json_pack("{s:s, s:s}", "type", "reply", "data", text_get(&data));
    text_free(&data);
    return reply;
}
