"""Where the table is in a picture: markers, the pose they give, tracking from frame to frame."""
