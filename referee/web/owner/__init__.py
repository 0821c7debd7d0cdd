"""What only the owner sees and does: the paired devices, what the doctor finds, a bundle for a bug report."""
