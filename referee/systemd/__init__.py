"""Running the referee as a systemd service: the files to install, and reports to the service manager."""
