"""How a study is run: the loop, where evaluations run, leases, signals, progress, budgets."""
