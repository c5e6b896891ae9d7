package standins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// At returns the environment entry that makes each process of a role of fakelean (lake, exe, env, make, setup, server,
// worker, build, deps, repl) do the deeds when it starts. The deeds are listed in fakelean's doc.
func At(role string, deeds ...string) string {
	return "FAKELEAN_AT_" + strings.ToUpper(role) + "=" + strings.Join(deeds, "; ")
}

// LeanEnv returns the environment entries that put fakelean's tools first on PATH and let them keep the journal.
func (b Bin) LeanEnv(journalPath string, more ...string) []string {
	path := b.LeanDir() + string(os.PathListSeparator) + os.Getenv("PATH")
	return append([]string{"PATH=" + path, "FAKELEAN_JOURNAL=" + journalPath}, more...)
}

// WriteKnobs makes fakelean's processes that run in project take these environment entries where their environment has
// no others, so that tests which run at the same time need not set variables of their common process.
func WriteKnobs(t testing.TB, project string, entries ...string) {
	t.Helper()
	WriteFile(t, filepath.Join(project, ".fakelean"), strings.Join(entries, "\n")+"\n")
}
