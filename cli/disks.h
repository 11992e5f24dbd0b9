/* Which folders `run` measures, and how much it may write there. */
#ifndef CLI_DISKS_H
#define CLI_DISKS_H

#include "base/err.h"
#include "base/mem.h"
#include "base/opt.h"

#include <stdbool.h>

struct disks {
    struct opt_list *folders;  /* as given; empty = the record's folder, added here */
    unsigned long long *bytes; /* as given; set to what the fullest of them allows  */
    const char *record_path;
    bool wanted;         /* something measures them            */
    bool named;          /* by the user: --bench disk          */
    struct arena *arena; /* for full paths: a resumed run may be started elsewhere */
};

/* ERR_USAGE when folders are given and nothing measures them. */
int disks_choose(struct disks *d, struct err *e) MUST_CHECK;

#endif
