package procscan

import "strings"

// ChildEnv composes the environment of a child: the marks first, then base
// without what remove names or a later source replaces, then extra. Of several
// entries of one name in base or extra the last counts, as in os/exec; entries
// without a name are dropped. It changes none of its arguments.
//
// The marks come first so that even a look at the environment which catches
// only its beginning shows them.
func ChildEnv(base, remove, extra []string, marks []Mark) []string {
	taken := map[string]bool{}
	env := make([]string, 0, len(marks)+len(base)+len(extra))
	for _, m := range marks {
		taken[m.Var] = true
		env = append(env, m.Env())
	}
	extra = lastOfEach(extra, taken)
	for _, name := range remove {
		taken[name] = true
	}
	for _, entry := range extra {
		taken[envName(entry)] = true
	}
	return append(append(env, lastOfEach(base, taken)...), extra...)
}

// lastOfEach keeps, in order, the last entry of each name that isn't left out.
func lastOfEach(entries []string, leftOut map[string]bool) []string {
	last := map[string]int{}
	for i, entry := range entries {
		last[envName(entry)] = i
	}
	var kept []string
	for i, entry := range entries {
		if name := envName(entry); name != "" && !leftOut[name] && last[name] == i {
			kept = append(kept, entry)
		}
	}
	return kept
}

// envName gives the empty string for an entry that has no name.
func envName(entry string) string {
	name, _, found := strings.Cut(entry, "=")
	if !found {
		return ""
	}
	return name
}

// envValue gives the value that a program started with env sees.
func envValue(env []string, name string) string {
	for _, entry := range env {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}
