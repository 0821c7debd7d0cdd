"""What subscribes to a refereed game and asks it: terminal, page, MQTT, print."""
