package procscan

import "context"

// RetireGroup ends the process group of the child's leader.
func RetireGroup(ctx context.Context, child Child, grace Grace) error {
	child.Retire()
	return nil
}
