package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f6977891/hearth/messages"
	"github.com/seed-f6977891/hearth/procscan"
)

// Find takes the first of a profile's commands whose program is found in path, and
// gives it with the program's absolute path. If there is none, the error is a
// *messages.LaunchError that names the programs and how they are usually installed;
// dir is where the command was to run.
func (l Language) Find(commands []Command, path, dir string) (Command, error) {
	if len(commands) == 0 {
		return nil, messages.Invalidf("language %s has no such command; set it in the config file under [languages.%s]", l.Name, l.Name)
	}
	var missing []string
	for _, command := range commands {
		file, err := procscan.LookPath(command[0], "", path)
		if err == nil {
			return slices.Concat(Command{file}, command[1:]), nil
		}
		missing = append(missing, l.hint(command[0]))
	}
	return nil, &messages.LaunchError{
		Argv0: commands[0][0], Dir: dir,
		Diagnosis: "not found in PATH; " + strings.Join(missing, "; or "),
	}
}

// InstallHint says how a program is usually installed; false: the profile doesn't know.
func (l Language) InstallHint(program string) (string, bool) {
	hint, ok := l.Install[filepath.Base(program)]
	return hint, ok
}

func (l Language) hint(program string) string {
	if hint, ok := l.InstallHint(program); ok {
		return fmt.Sprintf("%s: %s", program, hint)
	}
	return fmt.Sprintf("%s: install it, or set languages.%s in the config file", program, l.Name)
}
