/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding scenarios. */
#include "rocesim/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/standard.h"
#include "rocesim/scenario.h"

#define SUFFIX ".scenario"

/* Beside the program, wherever it was installed or built; else where it was meant to be. */
static const char *directory(void)
{
    static char path[4096];
    static const char beside[] = "/../share/rocekit/scenarios";
    const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - sizeof(beside));
    if (n > 0) {
        path[n] = '\0';
        char *slash = strrchr(path, '/');
        if (slash != NULL) {
            memcpy(slash, beside, sizeof(beside));
            if (access(path, R_OK) == 0)
                return path;
        }
    }
    return ROCESIM_SCENARIOS;
}

/* A file first. A directory of the same name is none: that is where -o has put the last run. */
static FILE *open_scenario(const char *name)
{
    char path[4096];
    struct stat st;
    const bool is_directory = stat(name, &st) == 0 && S_ISDIR(st.st_mode);
    if (!is_directory || strchr(name, '/') != NULL) {
        FILE *file = fopen(name, "rb");
        if (file != NULL || errno != ENOENT || strchr(name, '/') != NULL)
            return file;
    }
    const int n = snprintf(path, sizeof(path), "%s/%s%s", directory(), name, SUFFIX);
    if (n < 0 || (size_t)n >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return fopen(path, "rb");
}

char *find_scenario(const char *name, size_t *len)
{
    FILE *file = open_scenario(name);
    char *text = malloc(FIND_LEN_MAX + 1);
    *len = 0;
    if (file == NULL || text == NULL) {
        if (errno == ENOENT)
            msg_file(name, "no such file, and none of the installed scenarios (rocesim --list)");
        else
            msg_file(name, "%s", strerror(errno));
    } else {
        *len = fread(text, 1, FIND_LEN_MAX + 1, file);
        if (ferror(file) == 0 && *len <= FIND_LEN_MAX) {
            fclose(file);
            return text;
        }
        if (ferror(file) != 0)
            msg_file(name, "%s", strerror(errno));
        else
            msg_file(name, "longer than 1 MiB: this is no scenario");
    }
    if (file != NULL)
        fclose(file);
    free(text);
    return NULL;
}

static int is_scenario(const struct dirent *entry)
{
    const size_t len = strlen(entry->d_name), suffix = strlen(SUFFIX);
    return len > suffix && strcmp(entry->d_name + len - suffix, SUFFIX) == 0;
}

static void print_title(const char *name)
{
    char path[4096], error[SCENARIO_ERROR_MAX];
    size_t len;
    struct scenario scenario;
    const int n = snprintf(path, sizeof(path), "%s/%s", directory(), name);
    char *text = n > 0 && (size_t)n < sizeof(path) ? find_scenario(path, &len) : NULL;
    if (text == NULL)
        return;
    if (scenario_read(&scenario, text, len, NULL, 0, error) == 0)
        printf("%-16.*s %s\n", (int)(strlen(name) - strlen(SUFFIX)), name, scenario.title);
    scenario_free(&scenario);
    free(text);
}

int find_list(void)
{
    struct dirent **list = NULL;
    const int n = scandir(directory(), &list, is_scenario, alphasort);
    if (n < 0) {
        msg_file(directory(), "%s", strerror(errno));
        return EXIT_IO;
    }
    for (int i = 0; i < n; i++) {
        print_title(list[i]->d_name);
        free(list[i]);
    }
    free(list);
    return standard_end(EXIT_DONE);
}
