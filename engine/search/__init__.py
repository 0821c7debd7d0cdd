"""Looking ahead, for every game alike: a deadline that is kept, alpha-beta for two, sampled races where dice decide.

How a game plugs in: a game of two without dice gives `two_player.Rules` over its fast core and asks
`alpha_beta.best_move`; a game with dice names candidates and the value of a candidate under a sample of what chance
brings, and asks `sampling.race`. Both take a `budget.Deadline` and answer in time with something legal.
"""
