package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const output = `goos: linux
pkg: github.com/seed-f6977891/hearth/actors
BenchmarkAsk-2   	    8846	    122809 ns/op	       631.4 ns/ask	         2.217 x-channel
some line of a test
BenchmarkScan/1000-2   	      10	  1000 ns/op	         1.08 x-bare
PASS
`

func TestMetricsAreReadByBenchmarkAndUnit(t *testing.T) {
	metrics, err := parse([]byte(output))
	require.NoError(t, err)
	assert.Equal(t, 2.217, metrics[key{"Ask", "x-channel"}])
	assert.Equal(t, 631.4, metrics[key{"Ask", "ns/ask"}])
	assert.Equal(t, 1.08, metrics[key{"Scan/1000", "x-bare"}])
}

// sequence is a runner whose n-th run gives the n-th value.
func sequence(values ...float64) (runner, *[][]string) {
	var ran [][]string
	return func(_ string, benchmarks []string) (map[key]float64, error) {
		ran = append(ran, benchmarks)
		if len(values) == 0 {
			return nil, errors.New("none")
		}
		value := values[0]
		values = values[1:]
		return map[key]float64{{"A", "x"}: value, {"B/sub", "x"}: 1}, nil
	}, &ran
}

func twoFigures() []measured {
	return []measured{{figure: figure{Package: "p", Bench: "A", Metric: "x", Limit: 2}},
		{figure: figure{Package: "p", Bench: "B/sub", Metric: "x", Limit: 2}}}
}

func TestFigureIsMissedOnlyIfEveryTryMissesIt(t *testing.T) {
	results := twoFigures()
	run, ran := sequence(5, 3, 1.5)
	require.NoError(t, measure(results, 3, run))
	assert.Equal(t, [][]string{{"A", "B"}, {"A"}, {"A"}}, *ran, "what has held is not measured again")
	assert.True(t, results[0].Held)
	assert.Equal(t, 1.5, results[0].Value)
	assert.Equal(t, 3, results[0].Tries)
	assert.Equal(t, 1, results[1].Tries)

	results = twoFigures()
	run, _ = sequence(5, 3, 4)
	require.NoError(t, measure(results, 3, run))
	assert.False(t, results[0].Held)
	assert.Equal(t, 3.0, results[0].Value, "the best of the tries")
}

func TestFigureThatNoBenchmarkReportsIsAnError(t *testing.T) {
	results := []measured{{figure: figure{Package: "p", Bench: "Gone", Metric: "x", Limit: 1}}}
	run, _ := sequence(1)
	assert.ErrorContains(t, measure(results, 1, run), "BenchmarkGone reports no x")
	run, _ = sequence()
	assert.ErrorContains(t, measure(results, 1, run), "none")
}

func TestReportNamesWhatWasMissed(t *testing.T) {
	var text, encoded bytes.Buffer
	results := []measured{{figure: figure{What: "good", Limit: 2}, Value: 1, Tries: 1, Held: true},
		{figure: figure{What: "bad", Limit: 2}, Value: 3, Tries: 3}}
	require.NoError(t, report(&text, results, false))
	assert.Regexp(t, `(?m)^bad +3 +2 +3 +MISSED$`, text.String())
	assert.Regexp(t, `(?m)^good +1 +2 +1 *$`, text.String())
	require.NoError(t, report(&encoded, results, true))
	assert.Contains(t, encoded.String(), `"what": "bad"`)
}
