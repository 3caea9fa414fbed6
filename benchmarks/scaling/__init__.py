"""Programs on one device and on several, beside each other."""
