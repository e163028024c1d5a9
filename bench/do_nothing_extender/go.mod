module chipweave.dev/bench/do-nothing-extender

go 1.24
