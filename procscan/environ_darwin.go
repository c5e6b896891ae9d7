package procscan

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// BootID names this start of the machine.
func BootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}

// environ asks for KERN_PROCARGS2, since gopsutil has no environments here.
func (src portable) environ(pid int, _ []byte) ([]byte, error) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err == nil {
		return procargsEnviron(raw)
	}
	// EINVAL stands for a zombie as well as for a process of another user.
	st, statErr := src.stat(pid)
	if statErr != nil {
		return nil, statErr
	}
	if st.dead() {
		return nil, ErrGone
	}
	if err == unix.EINVAL || err == unix.EIO {
		err = unix.EPERM
	}
	return nil, fmt.Errorf("environment of process %d: %w", pid, err)
}

// procargsEnviron finds the environment in the layout of <sys/sysctl.h>: the
// number of arguments, the program's path, padding, the arguments, the
// environment, all strings ended by NUL.
func procargsEnviron(raw []byte) ([]byte, error) {
	if len(raw) < 4 {
		return nil, ErrGone
	}
	arguments := int(binary.NativeEndian.Uint32(raw))
	rest := raw[4:]
	_, rest, _ = bytes.Cut(rest, []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range arguments {
		var found bool
		if _, rest, found = bytes.Cut(rest, []byte{0}); !found {
			return nil, nil
		}
	}
	return rest, nil
}
