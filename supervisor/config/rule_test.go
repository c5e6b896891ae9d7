package config

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDurationsAreInGoFormOrBareSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "30m": 30 * time.Minute, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond,
		"90": 90 * time.Second, "1.5": 1500 * time.Millisecond, "0": 0, "1e3": 1000 * time.Second, "-1": -time.Second,
	} {
		got, err := ParseDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "x", "90 s", "1d", "NaN", "Inf", "-inf", "1e300", "9223372036.9", "-9223372037"} {
		_, err := ParseDuration(text)
		assert.Error(t, err, text)
	}
}

func TestDurationsAreWrittenWithoutZeroUnits(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"30m": 30 * time.Minute, "1h": time.Hour, "1h0m5s": time.Hour + 5*time.Second, "90ms": 90 * time.Millisecond,
		"0s": 0, "10s": 10 * time.Second, "1h10m": 70 * time.Minute, "10h": 10 * time.Hour,
	} {
		assert.Equal(t, want, FormatDuration(d))
	}
}

func TestSizesAreBinaryDecimalOrBytes(t *testing.T) {
	for text, want := range map[string]Size{
		"16GiB": 16 * GiB, "512MiB": 512 * MiB, "1.5GiB": 1536 * MiB, "2 TiB": 2 * TiB, "3KiB": 3 * KiB,
		"16GB": 16e9, "5MB": 5e6, "1kB": 1000, "7B": 7, "4096": 4096, "0": 0,
	} {
		got, err := ParseSize(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "GiB", "16 gib", "16G", "NaN", "InfGiB", "9000000TiB", "x16GiB"} {
		_, err := ParseSize(text)
		assert.Error(t, err, text)
	}
}

func TestSizeProductsStayInRange(t *testing.T) {
	assert.Equal(t, 48*GiB, (16 * GiB).times(3))
	assert.Equal(t, Size(math.MaxInt64), (16 * GiB).times(math.MaxInt64))
	assert.Equal(t, Size(0), Size(0).times(7))
}

// roundTripLimit is where floats stop holding every whole number.
const roundTripLimit = 1 << 53

func FuzzSizesReadBackAsWritten(f *testing.F) {
	for _, seed := range []int64{0, 1, 1023, int64(16 * GiB), int64(TiB) + 1, 1000} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		size := Size(n % roundTripLimit)
		got, err := ParseSize(size.String())
		require.NoError(t, err)
		require.Equal(t, size, got)
	})
}

func FuzzDurationsReadBackAsWritten(f *testing.F) {
	for _, seed := range []string{"90s", "1.5", "30m", "1e3", "-1h", "0", "inf", "0x1p3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			return
		}
		got, err := ParseDuration(FormatDuration(d))
		require.NoError(t, err)
		require.Equal(t, d, got)
	})
}
