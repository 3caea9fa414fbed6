"""What lengths decide, as functions of an exported program in C: elements of arrays, which plan is right, its sizes."""

from __future__ import annotations

from string import Template

from egglift.codegen.export.host_plan import HostPlan
from egglift.codegen.export.host_program import HostProgram
from egglift.codegen.export.length_texts import Size, by_functions, condition

#: arithmetic without overflow; quotients are rounded down, and nothing is divided by zero
ARITHMETIC = """
/* ---- arithmetic on lengths: of numbers beyond 64 bits the largest one, rounded down, 0 where nothing divides ---- */

static cl_long plus(cl_long a, cl_long b)
{
    if (b > 0 && a > CL_LONG_MAX - b)
        return CL_LONG_MAX;
    return b < 0 && a < -CL_LONG_MAX - b ? -CL_LONG_MAX : a + b;
}

static cl_long times(cl_long a, cl_long b)
{
    const cl_long x = a < 0 ? -a : a, y = b < 0 ? -b : b;
    if (y != 0 && x > CL_LONG_MAX / y)
        return (a < 0) == (b < 0) ? CL_LONG_MAX : -CL_LONG_MAX;
    return a * b;
}

static cl_long over(cl_long a, cl_long b)
{
    if (b == 0)
        return 0;
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static cl_long rest(cl_long a, cl_long b) { return b == 0 ? 0 : a - b * over(a, b); }

static cl_long common(cl_long a, cl_long b)
{
    while (b != 0) {
        const cl_long left = rest(a, b);
        a = b;
        b = left;
    }
    return a < 0 ? -a : a;
}
"""

ELEMENTS = Template("""
static void count_elements(struct sizes *s)
{
$lengths$used$counts
}
""")

USED = "    (void)plus, (void)times, (void)over, (void)rest, (void)common; /* not each program uses all of these */\n"

PLAN = Template("""
static int fits_$number(const struct sizes *s)
{
$lengths    return $conditions;
}

static void size_$number(struct sizes *s)
{
$lengths$sizes
}
""")

ROWS = Template("""
/* of each plan: its source, which of CHOICE it was chosen for (-1: none), its first launch and their number; is it
 * right for these lengths, and what its sizes are */
static const struct {
    int source, choice, first_step, steps;
    int (*fits)(const struct sizes *);
    void (*size)(struct sizes *);
} PLAN[] = {
$rows
};
""")


def plan_functions(p: HostProgram) -> str:
    """Arithmetic, and what a call's lengths say; of a program without lengths, the sizes as they are."""
    arrays = (*p.inputs, *p.outputs)
    counts = [f"    s->elements[{i}] = (size_t){_text(p, a.size)};" for i, a in enumerate(arrays)]
    elements = ELEMENTS.substitute(lengths=_declared(p), used=USED if p.lengths else "", counts="\n".join(counts))
    plans = (_functions(p, i, plan) for i, plan in enumerate(p.plans))
    return (ARITHMETIC if p.lengths else "") + elements + "".join(plans) + ROWS.substitute(rows=_rows(p))


def _text(p: HostProgram, n: Size) -> str:
    return by_functions(n, p.names)


def _declared(p: HostProgram) -> str:
    """`const cl_long n = s->lengths[0];` for each length, whether it is used or not."""
    named = "".join(f"    const cl_long {n} = s->lengths[{i}];\n" for i, n in enumerate(p.lengths))
    return named + "".join(f"    (void){n};\n" for n in p.lengths) or "    (void)s;\n"


def _functions(p: HostProgram, number: int, plan: HostPlan) -> str:
    conditions = "\n        && ".join(condition(c, p.names) for c in plan.conditions)
    return PLAN.substitute(
        number=number, lengths=_declared(p), conditions=conditions or "1", sizes="\n".join(_sizes(p, plan))
    )


def _sizes(p: HostProgram, plan: HostPlan) -> list[str]:
    found = [f"    s->own[{t}] = (size_t){_text(p, n)};" for t, n in enumerate(plan.temporaries)]
    for k, sizes in enumerate(plan.global_sizes):
        found += [f"    s->global[{k}][{d}] = (size_t){_text(p, n)};" for d, n in enumerate([*sizes, 1, 1, 1][:3])]
        found += [f"    s->numbers[{k}][{i}] = {_text(p, n)};" for i, n in enumerate(plan.numbers[k])]
    return found


def _rows(p: HostProgram) -> str:
    first, rows = 0, []
    for i, plan in enumerate(p.plans):
        choice = -1 if plan.choice is None else plan.choice
        rows.append(f"    {{{plan.source}, {choice}, {first}, {len(plan.steps)}, fits_{i}, size_{i}}}")
        first += len(plan.steps)
    return ",\n".join(rows)
