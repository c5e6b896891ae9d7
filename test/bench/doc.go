// Bench prints every figure that hearth promises, each measured against its baseline
// in the same run:
//
//	go run ./test/bench [-json] [-tries 3] [-only REGEXP]
//
// The measuring is the benchmarks' own; this program runs them, holds what they report
// against the table in figures.go, and exits with 1 where a figure was missed in every
// try. A shared machine spoils a single try easily: it does not spoil a ratio of
// medians in three.
package main
