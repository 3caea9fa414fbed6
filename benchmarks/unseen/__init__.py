"""Programs of many fields, written by somebody who had not seen the compiler, beside torch."""
