// Uses an exported `axpy` of two arrays of 100 numbers as a class.
#include "axpy.hpp"

#include <iostream>

int main()
{
    std::vector<float> x(100, 2.0f), y(100, 3.0f), out;
    axpy_program first;
    axpy_program program(std::move(first));
    program.run(x, y, out);
    if (out != std::vector<float>(100, 7.0f))
        std::cout << "a wrong result\n";
    try {
        x.pop_back();
        program.run(x, y, out);
        std::cout << "99 elements were taken\n";
    } catch (const axpy_error &error) {
        if (error.code() != AXPY_WRONG_LENGTH)
            std::cout << error.what() << "\n";
    }
    axpy_choice nowhere = axpy_choice();
    nowhere.name = "no such device";
    try {
        axpy_program none(nowhere);
        std::cout << "there is such a device\n";
    } catch (const axpy_error &error) {
        if (error.code() != AXPY_NO_DEVICE)
            std::cout << error.what() << "\n";
    }
    return 0;
}
