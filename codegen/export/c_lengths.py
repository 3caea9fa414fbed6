"""What every exported program in C does with the lengths of a call: checks them, and chooses the plan for them."""

from __future__ import annotations

from string import Template

LENGTHS = Template("""\
/* ---- lengths ---- */

/* their ranges, and how many elements arrays have for them */
static int measure(${name}_handle *self, const cl_ulong *lengths, struct sizes *s)
{
    int l;
    memset(s, 0, sizeof *s);
    for (l = 0; l < LENGTHS; l++) {
        if (lengths[l] < LENGTH[l].least || lengths[l] > LENGTH[l].most || lengths[l] % LENGTH[l].multiple != 0)
            return fail(self, ${NAME}_WRONG_LENGTH, "%s is %llu; it may be %s", LENGTH[l].name,
                (unsigned long long)lengths[l], LENGTH[l].said);
        s->lengths[l] = (cl_long)lengths[l];
    }
    count_elements(s);
    return ${NAME}_OK;
}

/* "n is 3, m is 4" */
static const char *said(const struct sizes *s, char *text, size_t size)
{
    size_t used = 0;
    int l;
    for (l = 0; l < LENGTHS && used < size; l++)
        used += (size_t)snprintf(text + used, size - used, "%s%s is %lld", l > 0 ? ", " : "", LENGTH[l].name,
            (long long)s->lengths[l]);
    return text;
}

/* an array of another length, or a buffer of fewer bytes */
static int disagrees(${name}_handle *self, const struct sizes *s, int i, const char *form, size_t has, size_t wanted)
{
    char start[400], text[800] = "";
    snprintf(start, sizeof start, form, ARRAY[i].name, (unsigned long)has, (unsigned long)wanted);
    if (*ARRAY[i].elements == 0)
        return fail(self, ${NAME}_WRONG_LENGTH, "%s", start);
    return fail(self, ${NAME}_WRONG_LENGTH, "%s: it has %s elements, where %s; give lengths and arrays that agree",
        start, ARRAY[i].elements, said(s, text, sizeof text));
}

/* how far lengths are from those of a choice, as a factor */
static double distance(const struct sizes *s, int choice)
{
    double found = 1;
    int l;
    for (l = 0; l < LENGTHS; l++) {
        const double a = s->lengths[l] > 1 ? (double)s->lengths[l] : 1;
        const double b = CHOICE[choice][l] > 1 ? (double)CHOICE[choice][l] : 1;
        found *= a > b ? a / b : b / a;
    }
    return found;
}

/* the plan for the lengths of a call: of those that are right the one that was chosen for the nearest lengths */
static int choose(${name}_handle *self, struct sizes *s)
{
    char text[800] = "";
    double best = 0;
    int i;
    s->plan = -1;
    for (i = 0; i < PLANS; i++) {
        const double far = PLAN[i].choice < 0 ? -1 : distance(s, PLAN[i].choice);
        if (s->plan >= 0 && (far < 0 || far >= best))
            continue;
        if (PLAN[i].fits(s)) {
            s->plan = i;
            best = far;
        }
    }
    if (s->plan < 0)
        return fail(self, ${NAME}_WRONG_LENGTH, "no kernel that was exported is for these lengths: %s; export those of "
            "kernel.specialise for them", said(s, text, sizeof text));
    PLAN[s->plan].size(s);
    return ${NAME}_OK;
}
""")
