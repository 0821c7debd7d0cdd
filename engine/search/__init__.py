"""Game-independent search: deadlines, alpha-beta for two players, and sampled races for games with dice.

A two-player game without dice can implement `alpha_beta.Rules` over its fast core and call `alpha_beta.best_move`. A
game with dice lists candidates, values each one for a sample of chance events, and calls `sampling.race`. Both take a
`budget.Deadline` and return a legal move in time.
"""
