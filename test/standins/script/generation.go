package script

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// NextGeneration returns the number of this process among those that the script at path was played by, from 1. The count
// lies beside the script, under a lock, since processes may start at the same moment.
func NextGeneration(path string) (int, error) {
	file, err := os.OpenFile(path+".generation", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		return 0, err
	}
	text := make([]byte, 20)
	n, _ := file.ReadAt(text, 0)
	last, _ := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	_, err = file.WriteAt([]byte(strconv.Itoa(last+1)), 0)
	return last + 1, err
}
