package procscan

import (
	"bytes"
	"context"
	"fmt"
)

// TreeSample is what one tree's processes had at one moment.
type TreeSample struct {
	Members []Identity
	// RSS is their resident memory in bytes. Pages that several of them share
	// count several times.
	RSS int64
}

// Sample groups all readable living processes by the value that the variable
// has in their environment, in one walk; processes without it are left out. A
// process that is between two programs is missing from this sample.
func Sample(ctx context.Context, varName string) (map[string]TreeSample, error) {
	return sample(ctx, system, varName)
}

func sample(ctx context.Context, src source, varName string) (map[string]TreeSample, error) {
	pids, err := src.pids()
	if err != nil {
		return nil, fmt.Errorf("read the process table: %w", err)
	}
	buf := environBuffers.Get().(*[]byte)
	defer environBuffers.Put(buf)
	trees, prefix := map[string]TreeSample{}, []byte(varName+"=")
	for i, pid := range pids {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		env, err := src.environ(pid, *buf)
		if missed(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look at process %d: %w", pid, err)
		}
		value := entryValue(env, prefix)
		if value == "" {
			continue
		}
		st, err := src.stat(pid)
		if missed(err) || err == nil && st.dead() {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look at process %d: %w", pid, err)
		}
		tree := trees[value]
		tree.Members = append(tree.Members, st.Identity)
		tree.RSS += st.rss
		trees[value] = tree
	}
	return trees, nil
}

// missed tells a process that isn't there to be measured from a real error.
func missed(err error) bool { return IsGone(err) || isUnreadable(err) }

// entryValue gives what follows prefix ("VAR=") in the first entry that has it,
// as getenv(3) would.
func entryValue(block, prefix []byte) string {
	for entry := range bytes.SplitSeq(block, []byte{0}) {
		if value, found := bytes.CutPrefix(entry, prefix); found {
			return string(value)
		}
	}
	return ""
}

// Measure gives the resident memory in bytes of those members that still live,
// for a fraction of the cost of a walk.
func Measure(ctx context.Context, members []Identity) (int64, error) {
	return measure(ctx, system, members)
}

func measure(ctx context.Context, src source, members []Identity) (rss int64, err error) {
	for _, member := range members {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		st, err := src.stat(member.PID)
		switch {
		case missed(err):
		case err != nil:
			return 0, fmt.Errorf("measure process %s: %w", member, err)
		case st.Identity == member && !st.dead():
			rss += st.rss
		}
	}
	return rss, nil
}
