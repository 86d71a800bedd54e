// Package bench measures encoders, and the whole engine with each of them, beside a fixed
// loop of work. Times of one machine cannot be compared with those of another; how many
// times as long as that loop something takes nearly can.
package bench
