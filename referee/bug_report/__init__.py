"""A bundle for a bug report: what helps to find a fault, without what is nobody else's business."""
