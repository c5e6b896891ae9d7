package procscan

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLookPath(t *testing.T) {
	root := t.TempDir()
	write := func(path string, mode os.FileMode) string {
		path = filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	tool, local := write("bin/tool", 0o755), write("project/tool", 0o755)
	write("plain/tool", 0o644)
	circle := filepath.Join(root, "circle")
	require.NoError(t, os.Symlink(circle, circle))
	project, bin, plain := filepath.Dir(local), filepath.Dir(tool), filepath.Join(root, "plain")
	t.Chdir(project)
	list := func(entries ...string) (path string) {
		for i, entry := range entries {
			if i > 0 {
				path += string(filepath.ListSeparator)
			}
			path += entry
		}
		return path
	}
	for _, tt := range []struct {
		law             string
		name, dir, path string
		want            string
		is              error
	}{
		{law: "an absolute name is itself", name: tool, want: tool},
		{law: "an absolute name has to exist", name: tool + "x", is: fs.ErrNotExist},
		{law: "below a file there is nothing", name: tool + "/x", is: fs.ErrNotExist},
		{law: "a bare name is in PATH", name: "tool", path: list("/nowhere", bin), want: tool},
		{law: "a bare name is never the working directory's", name: "tool", dir: project, path: list("", ".", "project"), is: fs.ErrNotExist},
		{law: "a relative entry is passed over for a later one", name: "tool", dir: project, path: list(".", bin), want: tool},
		{law: "what can't be executed is passed over", name: "tool", path: list(plain, bin), want: tool},
		{law: "what can't be executed is said if there is nothing better", name: "tool", path: plain, is: fs.ErrPermission},
		{law: "a directory that can't be searched is passed over", name: "tool", path: list(circle, bin), want: tool},
		{law: "and has nothing, as far as anybody knows", name: "tool", path: list(circle, bin+"x"), is: fs.ErrNotExist},
		{law: "a directory is no program", name: "bin", path: root, is: fs.ErrPermission},
		{law: "a name with a slash is the directory's", name: "./tool", dir: project, path: bin, want: local},
		{law: "a way up too", name: "../bin/tool", dir: project, want: tool},
		{law: "not without an absolute directory", name: "./tool", dir: "project", path: bin},
		{law: "no name", path: bin},
		{law: "an empty PATH", name: "tool", is: fs.ErrNotExist},
	} {
		t.Run(tt.law, func(t *testing.T) {
			got, err := LookPath(tt.name, tt.dir, tt.path)
			if tt.want != "" {
				require.NoError(t, err)
				require.Equal(t, tt.want, got)
				return
			}
			require.Error(t, err)
			require.NotContains(t, err.Error(), "\n")
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
		})
	}
}
