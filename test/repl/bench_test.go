package repl_test

import (
	"bufio"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed-f6977891/hearth/test/standins"
	"github.com/seed-f6977891/hearth/test/standins/script"
)

// BenchmarkWarmCallAgainstABareChild compares calls with the bare exchange in one run,
// turn by turn, so that a busy machine slows all of them down.
func BenchmarkWarmCallAgainstABareChild(b *testing.B) {
	answers := script.REPL{Rules: []script.Rule{script.Match("marker", script.Delay(5*time.Millisecond), script.Default())}}
	fresh, kept := startFake(b, answers), startFake(b, answers, resident)
	bare := standins.Launch(b, b.TempDir(), nil, standins.WriteREPL(b, answers).Command(standins.Build(b).REPL)...)
	replies := bufio.NewReader(bare.Stdout)
	exchange := func() {
		_, err := io.WriteString(bare.Stdin, `{"cmd":"-- marker M"}`+"\n\n")
		require.NoError(b, err)
		for line := ""; line != "\n"; {
			line, err = replies.ReadString('\n')
			require.NoError(b, err)
		}
	}
	turns := []struct {
		name string
		run  func()
		took []time.Duration
	}{
		{name: "bare", run: exchange},
		{name: "resident", run: kept.mustRun},
		{name: "fresh", run: fresh.mustRun},
	}
	for _, turn := range turns { // what is cold warms up
		turn.run()
	}
	for b.Loop() {
		b.StopTimer()
		fresh.awaitWarm()
		for i := range turns {
			began := time.Now()
			turns[i].run()
			turns[i].took = append(turns[i].took, time.Since(began))
		}
		b.StartTimer()
	}
	base := median(turns[0].took)
	for _, turn := range turns[1:] {
		ratio := float64(median(turn.took)) / float64(base)
		b.ReportMetric(ratio, turn.name+"/bare")
	}
}

func (r *rig) mustRun() {
	_, err := r.run("-- marker M", plenty)
	require.NoError(r.t, err)
}

// awaitWarm waits until a child is in reserve.
func (r *rig) awaitWarm() {
	warm := func() bool {
		status, err := r.Status(r.t.Context())
		require.NoError(r.t, err)
		return len(status.Pools) == 1 && status.Pools[0].Warm == 1
	}
	require.True(r.t, standins.Until(standins.Bound, warm), "no child is in reserve")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
