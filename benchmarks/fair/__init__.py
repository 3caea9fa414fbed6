"""Every program beside its strongest peers, in one run on one device."""
