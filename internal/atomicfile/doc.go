// Package whole writes files that appear whole or not at all, and folders of files
// that belong together. Whoever reads sees the old state or the new one, never half of
// one, nor a mixture of two: also after an operation that failed, and after a crash.
//
// What is written stands first under a temporary name beside its place, ".wirelab-"
// and a number and ".tmp". A process that is killed leaves it there; whoever writes
// beside it a day later removes it. All operations go through a Disk, so that a test
// can let the n-th of them fail.
package atomicfile
