package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is an amount of memory in bytes.
type Size int64

// Binary units.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
	TiB Size = 1 << 40
)

// units is ordered so that no unit stands behind one that it ends with.
var units = []struct {
	name string
	size Size
}{
	{"KiB", KiB}, {"MiB", MiB}, {"GiB", GiB}, {"TiB", TiB},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"B", 1},
}

// ParseSize reads "16GiB", "1.5 GB" or a bare number of bytes.
func ParseSize(text string) (Size, error) {
	number, unit := text, Size(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = strings.TrimRight(rest, " "), u.size
			break
		}
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size", text)
	}
	bytes := value * float64(unit)
	if !(math.Abs(bytes) < math.MaxInt64) { // false for NaN; see ParseDuration
		return 0, fmt.Errorf("%q is out of range", text)
	}
	return Size(bytes), nil
}

// String writes the size in the largest binary unit that divides it, so that it
// reads back as the same number.
func (s Size) String() string {
	if s == 0 {
		return "0"
	}
	for i := 3; i >= 0; i-- {
		if s%units[i].size == 0 {
			return strconv.FormatInt(int64(s/units[i].size), 10) + units[i].name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// times multiplies, and stays at the largest Size where the product is larger.
func (s Size) times(n int) Size {
	if n > 0 && s > math.MaxInt64/Size(n) {
		return math.MaxInt64
	}
	return s * Size(n)
}
