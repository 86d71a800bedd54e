// Package sweep runs a grid of experiments with several seeds for each point, on the cores of this
// machine or on many machines through a queue, and summarizes the results.
//
// A Plan describes the grid. A run is a point of the grid with one of its seeds, identified by its
// number. A job is a list of runs for one worker, and a batch the results of a job.
//
// Only the stored results count; the queue can be lost at any time. The runs without a result follow
// from the plan and the results, and are queued again, whatever the outcome of earlier jobs. A run
// may be executed more than once: all its results must have the same digest.
package sweep
