// Package journal is the diary that stand-in processes keep for the tests that watch them.
//
// Every process of a stand-in appends one JSON line for each thing that happened to it: its start, each signal, each
// message, each child, its end. Lines of many processes share one file: a line is written by one write(2) in append
// mode, so lines never mix. Times come from CLOCK_MONOTONIC, which all processes of a machine share.
package journal
