"""The table on an MQTT broker: its state and events for a smart home or a hall, and commands from them."""
