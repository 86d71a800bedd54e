package panics

import "sync"

// Each calls run with every number from 0 to n-1, in ascending order and on at most jobs goroutines
// at a time. It returns the error of each call, by number; an *Error if the call panicked.
func Each(jobs, n int, run func(i int) error) []error {
	errs := make([]error, n)
	work := make(chan int)
	var workers sync.WaitGroup
	for range min(max(jobs, 1), n) {
		workers.Go(func() {
			for i := range work {
				errs[i] = Call(func() error { return run(i) })
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	workers.Wait()
	return errs
}
