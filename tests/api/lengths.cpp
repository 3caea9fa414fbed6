// Uses an exported `gemv` of n = 4, 8, ..., 64 rows and m = 0, 1, ..., 100 columns as a class.
#include "gemv.hpp"

#include <iostream>

int main()
{
    gemv_program program;
    std::vector<float> out;
    for (size_t m : {0, 1, 33, 100}) {
        program.run(m, 8, std::vector<float>(8 * m, 1.0f), std::vector<float>(m, 2.0f), out);
        if (out != std::vector<float>(8, 2.0f * static_cast<float>(m)))
            std::cout << "a wrong result for m = " << m << "\n";
    }
    try {
        program.run(3, 6, std::vector<float>(18), std::vector<float>(3), out);
        std::cout << "6 rows were taken\n";
    } catch (const gemv_error &error) {
        if (error.code() != GEMV_WRONG_LENGTH)
            std::cout << error.what() << "\n";
    }
    return 0;
}
