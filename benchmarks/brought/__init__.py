"""Programs that users bring: public kinds from many fields, for which nothing was tuned."""
