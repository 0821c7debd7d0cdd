"""What is printed: boards, sheets, markers and the paper kits."""
