package wire

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// Decimal is a number that is written with a point even where it is whole, as
// Python writes its floats: a program that told them apart by that goes on working.
type Decimal float64

// MarshalJSON writes the shortest decimal that is this number.
func (d Decimal) MarshalJSON() ([]byte, error) { return d.append(nil), nil }

func (d Decimal) append(text []byte) []byte {
	from := len(text)
	text = strconv.AppendFloat(text, float64(d), 'f', -1, 64)
	if bytes.IndexByte(text[from:], '.') < 0 {
		text = append(text, ".0"...)
	}
	return text
}

// rounded keeps so many digits behind the point.
func rounded(value float64, digits int) Decimal {
	scale := math.Pow10(digits)
	return Decimal(math.Round(value*scale) / scale)
}

// secondsBetween is a span in seconds with three digits behind the point, never
// negative: the two ends may come from two goroutines.
func secondsBetween(from, to time.Time) Decimal { return rounded(max(0, to.Sub(from).Seconds()), 3) }

// gibibytes is a memory in GiB with two digits behind the point.
func gibibytes(bytes int64) Decimal { return rounded(float64(bytes)/(1<<30), 2) }
