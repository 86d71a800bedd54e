// Package sweep runs a grid of experiments with many seeds each, on the cores of this
// machine or on many machines through a queue, and says what it came to.
//
// The set of results is the truth and the queue is disposable. A Plan says what is to be
// run; a run is a point of the grid with one of its seeds, known by its number. A job is a
// chunk of runs. Whoever holds the plan and the results that there are knows what is
// missing, and that is what is run next, whatever became of earlier jobs: results are
// idempotent, and two of one run must have the same digest.
package sweep
