"""Many tables on one page: what they play, who needs an arbiter, and the tournament they play in.

Each table is the keeper of its own games; the hall has a copy of every journal, told by the broker, and fills what it
missed. So table, broker and hall may stop and start in any order.
"""
