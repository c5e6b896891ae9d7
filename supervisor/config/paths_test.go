package config

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

var install = Install{Path: "/opt/hearth", ID: "0123456789", Build: "abcdefabcd"}

func TestTheFilesOfADaemonHaveTheContractsNames(t *testing.T) {
	c := Config{RuntimeDir: "/r/"}
	assert.Equal(t, Paths{
		Dir: "/r", Socket: "/r/hearth-v1-0123456789-abcdefabcd.sock", Log: "/r/hearth-v1-0123456789-abcdefabcd.log",
		Lock: "/r/hearth-v1-0123456789.lock", Lifetime: "/r/hearth-v1-0123456789.lifetime.lock", Trees: "/r/trees",
	}, c.Paths(install))
}

// longest gives a directory under root so that its sockets' paths have n bytes, made
// of characters of two bytes where they fit.
func longest(root string, n int, character string) string {
	room := n - socketNameLength - len(root) - 1
	name := strings.Repeat(character, room/len(character))
	return root + "/" + name + strings.Repeat("x", room-len(name))
}

func TestADefaultDirectoryThatIsTooLongFallsBack(t *testing.T) {
	fallback := fmt.Sprintf("/tmp/hearth-%d", os.Getuid())
	for _, character := range []string{"a", "ä"} {
		fits := strings.TrimSuffix(longest("/run", 100-len("/hearth"), character), "/")
		assert.Equal(t, fits+"/hearth", defaultRuntimeDir(fits), character)
		assert.Equal(t, fallback, defaultRuntimeDir(fits+"a"), character)
		assert.Len(t, Config{DefaultRuntimeDir: defaultRuntimeDir(fits)}.Paths(install).Socket, 100)
	}
	// 120 bytes of two-byte characters are 60 characters: bytes count.
	assert.Equal(t, fallback, defaultRuntimeDir("/"+strings.Repeat("ä", 60)))
	assert.Equal(t, fallback, defaultRuntimeDir(""))
	assert.Equal(t, fallback, defaultRuntimeDir("run/user/0"), "a relative XDG_RUNTIME_DIR counts as unset")
}

func TestAConfiguredDirectoryThatIsTooLongIsRefusedWithPathLengthAndLimit(t *testing.T) {
	for _, character := range []string{"a", "ä"} {
		dir := longest("/r", 100, character)
		_, _, err := load(t, map[string]string{"HEARTH_RUNTIME_DIR": dir}, nil, "")
		require.NoError(t, err, character)
		_, _, err = load(t, map[string]string{"HEARTH_RUNTIME_DIR": dir + "a"}, nil, "")
		refusal := refused(t, err)
		assert.Equal(t, "runtime_dir", refusal.Setting)
		assert.Contains(t, refusal.Error(), dir+"a/hearth-v1-")
		assert.Contains(t, refusal.Error(), "101 bytes")
		assert.Contains(t, refusal.Error(), "limit is 100")
	}
}

// A socket of the longest path that is let through can really be bound.
func TestTheLimitIsWithinTheKernels(t *testing.T) {
	dir := longest(realTemp(t), 100, "ä")
	require.NoError(t, PrivateDir(dir))
	listener, err := net.Listen("unix", Config{RuntimeDir: dir}.Paths(install).Socket)
	require.NoError(t, err)
	require.NoError(t, listener.Close())
}

func TestASocketOfTheUsersChoice(t *testing.T) {
	paths, err := PathsFor("/r/my.socket")
	require.NoError(t, err)
	assert.Equal(t, Paths{Dir: "/r", Socket: "/r/my.socket", Log: "/r/my.log", Lock: "/r/my.lock",
		Lifetime: "/r/my.lifetime.lock", Trees: "/r/trees"}, paths)
	for socket, want := range map[string]string{
		"my.sock": "absolute", "": "absolute", "/r/": "absolute", "/r/my.lock": "another extension",
		"/r/my.log": "another extension", "/" + strings.Repeat("ä", 50): "101 bytes",
	} {
		_, err := PathsFor(socket)
		refusal := refused(t, err)
		assert.Equal(t, "--socket", refusal.Setting)
		assert.Contains(t, refusal.Want, want)
	}
}

func TestOtherBuildsAreThoseOfTheSameInstallation(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"hearth-v1-0123456789-abcdefabcd.sock", "hearth-v1-0123456789-1111111111.sock", "hearth-v1-0123456789-1111111111.log",
		"hearth-v1-0123456789.lock", "hearth-v1-9999999999-2222222222.sock", "trees",
	} {
		write(t, filepath.Join(dir, name), "")
	}
	paths := Config{RuntimeDir: dir}.Paths(install)
	others, err := paths.OtherBuilds(install)
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "hearth-v1-0123456789-1111111111.sock")}, others)
}

func TestThePrivateDirectoryIsMadeWithItsParents(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, PrivateDir(dir))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.NoError(t, PrivateDir(dir), "one that is there already will do")
}

func TestAPrivateDirectoryThatIsNotOnesOwnIsRefused(t *testing.T) {
	base := t.TempDir()
	link := filepath.Join(base, "link")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	assert.ErrorContains(t, PrivateDir(link), "not a directory")
	assert.ErrorContains(t, PrivateDir(write(t, filepath.Join(base, "file"), "")), "not a directory")
	open := filepath.Join(base, "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o710))
	assert.ErrorContains(t, PrivateDir(open), "open to others (mode 0710)")
	info, err := os.Stat(open)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o710), info.Mode().Perm(), "it is never changed")
	assert.ErrorContains(t, checkPrivate("/d", unix.S_IFDIR|0o700, 7, 8), "belongs to user 7, not to 8")
}
