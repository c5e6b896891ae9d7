package procscan

import "context"

// TreeSample is what one tree's processes had at one moment.
type TreeSample struct {
	Members []Identity
	// RSS is their resident memory in bytes. Pages that several of them share
	// count several times.
	RSS int64
}

// Sample groups all readable processes by the value that the variable has in
// their environment, in one walk.
func Sample(ctx context.Context, varName string) (map[string]TreeSample, error) {
	return nil, nil
}

// Measure gives the resident memory in bytes of those members that still live.
func Measure(ctx context.Context, members []Identity) (int64, error) {
	return 0, nil
}
