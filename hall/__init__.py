"""Many tables on one page: what they play, who needs an arbiter, and how their games ended.

Each table keeps its own games. The hall copies every journal from the broker's messages, and asks the table for events
it missed. So table, broker and hall may stop and start in any order.
"""
