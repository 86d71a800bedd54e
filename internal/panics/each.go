package panics

import "sync"

// Each calls run with every number below n, in ascending order and on at most jobs goroutines at
// a time, and returns the errors by number. A call that panics yields an *Error.
func Each(jobs, n int, run func(i int) error) []error {
	errs := make([]error, n)
	work := make(chan int)
	var all sync.WaitGroup
	for range min(max(jobs, 1), n) {
		all.Go(func() {
			for i := range work {
				errs[i] = Call(func() error { return run(i) })
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	all.Wait()
	return errs
}
