package procscan

import "strings"

// ChildEnv composes the environment of a child: the marks first, then base
// without what remove names or a later source replaces, then extra. Of several
// entries of one name the last counts, as in os/exec; entries without a name
// are dropped. It changes none of its arguments.
//
// The marks come first so that a look at a large environment which caught only
// its beginning still shows them.
func ChildEnv(base, remove, extra []string, marks []Mark) []string {
	taken := map[string]bool{}
	for _, m := range marks {
		taken[m.Var] = true
	}
	for _, name := range remove {
		taken[name] = true
	}
	extra = lastOfEach(extra, envNames(marks))
	for _, entry := range extra {
		taken[envName(entry)] = true
	}
	env := make([]string, 0, len(marks)+len(base)+len(extra))
	for _, m := range marks {
		env = append(env, m.Env())
	}
	return append(append(env, lastOfEach(base, taken)...), extra...)
}

// lastOfEach keeps the last entry of each name that isn't left out, in order.
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

func envNames(marks []Mark) map[string]bool {
	names := map[string]bool{}
	for _, m := range marks {
		names[m.Var] = true
	}
	return names
}

// envName gives the empty string for an entry that has no name.
func envName(entry string) string {
	name, _, found := strings.Cut(entry, "=")
	if !found {
		return ""
	}
	return name
}
