"""The referee as a service of systemd: the files that are installed, and what it tells its manager."""
