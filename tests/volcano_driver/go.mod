module chipweave.dev/tests/volcano-driver

go 1.24
