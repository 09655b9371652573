/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Three panels with one time axis, in plain SVG 1.1. */
#include "rocesim/plot.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WIDTH        960
#define LEFT         70
#define RIGHT        190 /* for the names of the curves */
#define TOP          50
#define PANEL_HEIGHT 200
#define PANEL_STEP   250
#define CURVES_MAX   8
#define TICKS        4

/* Okabe and Ito's colours, which the colour-blind tell apart. */
static const char *const colours[CURVES_MAX] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#999999", "#000000"};

struct panel {
    const char *title, *unit;
    double scale; /* from the curve's unit to the one that is shown */
    double top;   /* of the axis, in the curve's unit; 0: by the curves */
    const struct curve *curves;
    int n;
};

static void print(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print(struct out *out, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    out_str(out, line);
}

/* The title of a scenario may hold anything. */
static void print_text(struct out *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<' || *text == '>' || *text == '&')
            print(out, "&#%d;", *text);
        else if ((unsigned char)*text >= ' ')
            out_write(out, text, 1);
    }
}

/* The indices of the curves with the largest sums, largest first; empty ones are left out. */
static int largest(const struct panel *panel, int *index)
{
    int n = 0;
    for (int i = 0; i < panel->n; i++) {
        if (!(panel->curves[i].sum > 0))
            continue;
        int at = n < CURVES_MAX ? n++ : CURVES_MAX;
        for (; at > 0 && panel->curves[index[at - 1]].sum < panel->curves[i].sum; at--)
            if (at < CURVES_MAX)
                index[at] = index[at - 1];
        if (at < CURVES_MAX)
            index[at] = i;
    }
    return n;
}

/* 1, 2 or 5 times a power of ten, not below |value|. */
static double round_up(double value)
{
    double power = 1e-9;
    if (!(value > 0))
        return 1;
    while (power * 10 < value)
        power *= 10;
    if (value <= power * 1)
        return power;
    return value <= power * 2 ? power * 2 : value <= power * 5 ? power * 5 : power * 10;
}

static double axis_top(const struct panel *panel, const int *index, int n, int n_points)
{
    double most = 0;
    if (panel->top > 0)
        return panel->top;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n_points; k++)
            if (panel->curves[index[i]].point[k] > most)
                most = panel->curves[index[i]].point[k];
    return round_up(most * panel->scale) / panel->scale;
}

static void draw_axes(const struct panel *panel, double top, double last_ms, int y, struct out *out)
{
    const int right = WIDTH - RIGHT, bottom = y + PANEL_HEIGHT;
    print(out, "<text x=\"%d\" y=\"%d\" class=\"t\">%s, %s</text>\n", LEFT, y - 8, panel->title,
          panel->unit);
    for (int i = 0; i <= TICKS; i++) {
        const int at = bottom - PANEL_HEIGHT * i / TICKS;
        print(
            out,
            "<path d=\"M%d %dH%d\" class=\"g\"/><text x=\"%d\" y=\"%d\" class=\"r\">%.4g</text>\n",
            LEFT, at, right, LEFT - 6, at + 4, top * panel->scale * i / TICKS);
        const int x = LEFT + (right - LEFT) * i / TICKS;
        print(out, "<text x=\"%d\" y=\"%d\" class=\"m\">%.4g</text>\n", x, bottom + 16,
              last_ms * i / TICKS);
    }
    print(out, "<text x=\"%d\" y=\"%d\">ms</text>\n", right + 8, bottom + 16);
}

static void draw_curve(const struct curve *curve, int n_points, double top, int y,
                       const char *colour, struct out *out)
{
    const double width = WIDTH - RIGHT - LEFT;
    print(out, "<path fill=\"none\" stroke=\"%s\" d=\"", colour);
    for (int i = 0; i < n_points; i++) {
        double part = curve->point[i] / top;
        if (part > 1)
            part = 1;
        print(out, "%s%.1f %.1f", i == 0 ? "M" : "L", LEFT + width * (i + 0.5) / n_points,
              y + PANEL_HEIGHT * (1 - part));
    }
    print(out, "\"/>\n");
}

static void draw_panel(const struct panel *panel, const struct series *series, int y,
                       struct out *out)
{
    int index[CURVES_MAX];
    const int n = largest(panel, index);
    const double top = axis_top(panel, index, n, series->n_points);
    const double last_ms = (double)series->step_ns * series->n_points / 1e6;
    draw_axes(panel, top, last_ms, y, out);
    for (int i = n - 1; i >= 0; i--)
        draw_curve(&panel->curves[index[i]], series->n_points, top, y, colours[i], out);
    for (int i = 0; i < n; i++)
        print(out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", WIDTH - RIGHT + 10,
              y + 12 + 16 * i, colours[i], panel->curves[index[i]].name);
    if (panel->n > n && n == CURVES_MAX)
        print(out, "<text x=\"%d\" y=\"%d\">the largest %d of %d</text>\n", WIDTH - RIGHT + 10,
              y + 12 + 16 * n, n, panel->n);
}

void plot_write(const struct series *series, struct out *out)
{
    const struct panel panels[] = {
        {"delivered", "Gb/s", 1e-9, 0, series->rates, series->net->scenario->n_flows},
        {"egress queue", "KB", 1e-3, 0, series->depths, series->n_queues},
        {"paused", "part of the time", 1, 1, series->pauses, series->n_queues},
    };
    const int n = sizeof(panels) / sizeof(panels[0]);
    print(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "font-family=\"sans-serif\" font-size=\"12\">\n",
          WIDTH, TOP + n * PANEL_STEP);
    print(out, "<style>.t{font-weight:bold}.r{text-anchor:end}.m{text-anchor:middle}"
               ".g{stroke:#ddd}</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    print(out, "<text x=\"%d\" y=\"20\" font-size=\"15\">", LEFT);
    print_text(out, series->net->scenario->title);
    print(out, "</text>\n");
    for (int i = 0; i < n; i++)
        draw_panel(&panels[i], series, TOP + i * PANEL_STEP, out);
    print(out, "</svg>\n");
}
