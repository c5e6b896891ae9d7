package messages

import "time"

// Build is a command whose compiles are watched.
type Build struct {
	Dir      string
	Argv     []string
	PerFile  time.Duration // one file's limit; 0: none
	Limit    time.Duration // the whole build's; 0: none
	Interval time.Duration // between two looks; 0: 250 ms
	Match    string        // lean, cc, go, or a regular expression with one group for the file
}

// RunningFile is one compile that a watched build runs now.
type RunningFile struct {
	File    string        `json:"file"`
	PID     int           `json:"pid"`
	Elapsed time.Duration `json:"elapsed_ns"`
}
