//go:build unix

package procscan

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// diagnoseStart says why path could not be started in dir. The kernel's answer
// alone misleads: "no such file" may mean the program, its interpreter or the
// directory.
func diagnoseStart(path, dir string, err error) string {
	if info, statErr := os.Stat(dir); statErr != nil {
		return fmt.Sprintf("directory %s: %v", dir, reason(statErr))
	} else if !info.IsDir() {
		return dir + " is not a directory"
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if loader := interpreter(path); loader != "" {
			return fmt.Sprintf("%s needs %s, which doesn't exist", path, loader)
		}
		return path + " doesn't exist"
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Sprintf("%s is no program for this machine (%s)", path, format(path))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%s or directory %s: permission denied (%s)", path, dir, describeFile(path))
	case errors.Is(err, syscall.ETXTBSY):
		return path + " is being written to"
	case errors.Is(err, syscall.E2BIG):
		return "arguments and environment are too long"
	case errors.Is(err, syscall.EINVAL):
		return "an argument or environment entry contains a NUL byte"
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return "the machine has no process or memory left for it: " + reason(err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "no file descriptor left: " + reason(err)
	}
	return reason(err)
}

// reason drops the operation and path that os puts before an error.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// describeFile gives a file's mode and owner, "-rw-r--r-- root".
func describeFile(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return reason(err)
	}
	text := info.Mode().String()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		text += " " + userName(st.Uid)
	}
	return text
}

func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}

// interpreter gives the missing program that the kernel would have to start in
// order to run path: what follows #!, or the loader of a dynamically linked one.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := bufio.NewReaderSize(f, 256).Peek(256) // shorter files are fine
	line, isScript := strings.CutPrefix(string(head), "#!")
	if !isScript {
		return missing(elfLoader(f))
	}
	line, _, _ = strings.Cut(line, "\n")
	if words := strings.Fields(line); len(words) > 0 {
		return missing(words[0])
	}
	return ""
}

func elfLoader(f *os.File) string {
	file, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	for _, prog := range file.Progs {
		if prog.Type == elf.PT_INTERP && prog.Filesz < 4096 {
			name := make([]byte, prog.Filesz)
			if _, err := prog.ReadAt(name, 0); err != nil {
				return ""
			}
			return strings.TrimRight(string(name), "\x00")
		}
	}
	return ""
}

func missing(path string) string {
	if _, err := os.Stat(path); path == "" || err == nil {
		return ""
	}
	return path
}

// format tells what kind of file it is that the kernel refused to execute.
func format(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return reason(err)
	}
	defer f.Close()
	var head [20]byte // up to e_machine, which has the same place for 32 and 64 bits
	if _, err := io.ReadFull(f, head[:]); err != nil || string(head[:4]) != elf.ELFMAG {
		return "neither an ELF file nor a script with #!; " + describeFile(path)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	return fmt.Sprintf("built for %s, this is %s", elf.Machine(order.Uint16(head[18:])), runtime.GOARCH)
}
