package wire

import (
	"net"
	"os"

	"github.com/seed-f6977891/hearth/messages"
)

// CheckPeer makes sure that the process at the other end of a connection belongs to
// this user, as the kernel noted it when the connection was made. The modes of socket
// and directory keep others out already; this holds where a socket was put into a
// directory that others can enter, or where somebody else made it.
func CheckPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return messages.Errorf(messages.KindInternal, "cannot ask who is at the other end of the socket: %w", err)
	}
	var user uint32
	controlErr := raw.Control(func(fd uintptr) { user, err = peerUser(int(fd)) })
	if controlErr != nil {
		err = controlErr
	}
	if err != nil {
		return messages.Errorf(messages.KindInternal, "cannot ask who is at the other end of the socket: %w", err)
	}
	if int(user) != ownUser {
		return messages.Invalidf("the other end of the socket belongs to user %d, not to %d", user, ownUser)
	}
	return nil
}

// ownUser is this process's, asked once: a daemon is asked for it at each connection.
var ownUser = os.Geteuid()
