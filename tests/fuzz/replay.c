/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a fuzz target over every file of the folders named: a corpus as a regression test, with any
 * compiler. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return false;
    fseek(f, 0, SEEK_END);
    const long size = ftell(f);
    rewind(f);
    /* An exact-size block, so that a sanitizer sees one byte too many. */
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    const bool ok = data != NULL && size >= 0 && fread(data, 1, (size_t)size, f) == (size_t)size;
    fclose(f);
    if (ok)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned runs = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (dir == NULL) {
            perror(argv[i]);
            return 1;
        }
        for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
            char path[4096];
            if (e->d_name[0] == '.')
                continue;
            snprintf(path, sizeof(path), "%s/%s", argv[i], e->d_name);
            if (!run_file(path)) {
                perror(path);
                return 1;
            }
            runs++;
        }
        closedir(dir);
    }
    printf("%u corpus files\n", runs);
    return runs > 0 ? 0 : 1;
}
