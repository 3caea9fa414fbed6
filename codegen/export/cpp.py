"""An exported program in C++: a class around the one in C, which gives everything back by itself."""

from __future__ import annotations

from string import Template

from egglift.codegen.export.c_header import C_TYPES
from egglift.codegen.export.host_program import HostProgram
from egglift.codegen.export.length_texts import by_operators

CLASS = Template("""\
// $name for C++11: a class around $name.h, which says what its codes and parameters are.
#ifndef ${NAME}_HPP
#define ${NAME}_HPP

#include "$name.h"

#include <stdexcept>
#include <utility>
#include <vector>

// What a call met; code() is one of ${NAME}_NO_DEVICE, ...
class ${name}_error : public std::runtime_error {
public:
    ${name}_error(int code, const char *message) : std::runtime_error(message), code_(code) {}
    int code() const { return code_; }

private:
    int code_;
};

// The kernels on a device.  One thread at a time uses an object; it can be moved, and not copied.
class ${name}_program {
public:
    explicit ${name}_program(const ${name}_choice &choice = ${name}_choice())
    {
        const int result = ${name}_init(&self_, &choice);
        if (result != ${NAME}_OK) {
            const ${name}_error error(result, ${name}_message(self_));
            ${name}_release(self_);
            throw error;
        }
    }
    ${name}_program(${name}_program &&other) noexcept : self_(other.self_) { other.self_ = nullptr; }
    ${name}_program &operator=(${name}_program &&other) noexcept
    {
        std::swap(self_, other.self_);
        return *this;
    }
    ${name}_program(const ${name}_program &) = delete;
    ${name}_program &operator=(const ${name}_program &) = delete;
    ~${name}_program() { ${name}_release(self_); }

    // Results get the lengths that they have.
    void run($parameters)
    {
$resized
        check(${name}_run(self_$arguments));
    }

    // For ${name}_enqueue and the rest of $name.h.
    ${name}_handle *get() const { return self_; }

private:
    void check(int result) const
    {
        if (result != ${NAME}_OK)
            throw ${name}_error(result, ${name}_message(self_));
    }
    ${name}_handle *self_ = nullptr;
};

#endif
""")


def class_header(p: HostProgram) -> str:
    """The text of `NAME.hpp`."""
    parameters, arguments = [f"size_t {n}" for n in p.lengths], list(p.lengths)
    for a in p.inputs:
        kind = C_TYPES[a.scalar.name]
        parameters.append(f"const std::vector<{kind}> &{a.name}" if a.shape else f"{kind} {a.name}")
        arguments.append(f"{a.name}.data(), {a.name}.size()" if a.shape else a.name)
    for a in p.outputs:
        kind = C_TYPES[a.scalar.name]
        parameters.append(f"std::vector<{kind}> &{a.name}" if a.shape else f"{kind} &{a.name}")
        arguments.append(f"{a.name}.data(), {a.name}.size()" if a.shape else f"&{a.name}")
    resized = [f"        {a.name}.resize({by_operators(a.size, p.names)});" for a in p.outputs if a.shape]
    return CLASS.substitute(
        name=p.name,
        NAME=p.name.upper(),
        parameters=", ".join(parameters),
        arguments="".join(f", {a}" for a in arguments),
        resized="\n".join(resized) or "        // nothing to resize",
    )
